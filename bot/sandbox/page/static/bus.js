// How modules tell each other that something changed, without knowing each other.

const target = new EventTarget();

export function on(name, hear) {
  target.addEventListener(name, (event) => hear(event.detail));
}

export function tell(name, detail) {
  target.dispatchEvent(new CustomEvent(name, { detail }));
}
