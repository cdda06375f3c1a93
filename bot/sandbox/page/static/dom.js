// Building nodes. Text only ever becomes text nodes: nothing here, or anywhere on the page, parses markup.

export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) set(node, name, value);
  node.append(...children.flat(Infinity).filter(isThere));
  return node;
}

export function isThere(child) {
  return child !== null && child !== undefined && child !== false;
}

export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 20 20');
  svg.setAttribute('aria-hidden', 'true');
  svg.classList.add('icon', `icon-${name}`);
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}

// Redraws part of the page and leaves the keyboard where it was: on the control with the same key, else on `after`.
// `after` is what stands there when it is drawn: `container` itself unless that was replaced.
export function keepingFocus(container, redraw, after = container) {
  const active = document.activeElement;
  const inside = active !== document.body && container.contains(active);
  const whole = active === container;
  const key = inside ? active.dataset.key : null;
  const ts = inside ? active.closest('[data-ts]')?.dataset.ts : null;
  redraw();
  if (!inside || (whole && after === container)) return;
  const again = withData(after, 'key', key) ?? withData(after, 'ts', ts) ?? after;
  again.focus({ preventScroll: true });
}

let lastId = 0;

export function freshId(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}

function set(node, name, value) {
  if (!isThere(value)) return;
  if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
  else if (name === 'class') node.className = value;
  else if (name === 'data') Object.assign(node.dataset, value);
  else if (name === 'value') node.value = value;
  else node.setAttribute(name, value === true ? '' : value);
}

const SVG = 'http://www.w3.org/2000/svg';

const ICONS = {
  smile: 'M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15M7.2 8v.2M12.8 8v.2M6.8 11.6c.8 1.5 2 2.2 3.2 2.2s2.4-.7 3.2-2.2',
  reply: 'M3 5.5h14v8.5h-7.5L6 17v-3H3z',
  more: 'M4 10h1M9.5 10h1M15 10h1',
  close: 'M5 5l10 10M15 5L5 15',
  send: 'M3 10h12M10.5 4.5L16 10l-5.5 5.5',
  back: 'M12.500 4L6.500 10l6 6',
  eye: 'M2 10s3-5 8-5 8 5 8 5-3 5-8 5-8-5-8-5zM10 8a2 2 0 1 0 0 4 2 2 0 0 0 0-4',
};

// Remembers where the keyboard is. Calling the answer brings it back there, or to what took that place since.
export function bookmark() {
  const at = document.activeElement;
  const region = at?.closest('main, aside, dialog');
  const key = at?.dataset.key;
  const ts = at?.closest('[data-ts]')?.dataset.ts;
  return () => {
    const within = region?.isConnected ? region : document.body;
    const same = at?.isConnected && at !== document.body ? at : null;
    const back = same ?? withData(within, 'key', key) ?? withData(within, 'ts', ts) ?? document.getElementById('main');
    back.focus({ preventScroll: true });
  };
}

function withData(within, name, value) {
  return value ? [...within.querySelectorAll(`[data-${name}]`)].find((node) => node.dataset[name] === value) : null;
}
