// Everything that goes over the wire: reads of the page, acts through the control API, the live stream.

import { tell } from './bus.js';

export class Refusal extends Error {}

export async function read(what, query = {}) {
  const wanted = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return answered(fetch(`/page/read/${what}?${new URLSearchParams(wanted)}`));
}

export async function act(operation, body) {
  const headers = { 'Content-Type': 'application/json' };
  return answered(fetch(`/control/${operation}`, { method: 'POST', headers, body: JSON.stringify(body) }));
}

// The browser reconnects by itself; what was missed meanwhile is read again, hence `connected` each time.
export function connect() {
  const source = new EventSource('/page/stream');
  source.onopen = () => tell('connected');
  source.onerror = () => tell('disconnected');
  source.onmessage = (event) => tell('frame', JSON.parse(event.data));
}

async function answered(request) {
  let response;
  try {
    response = await request;
  } catch {
    throw new Refusal('The sandbox does not answer. Is it still running?');
  }
  const body = await response.json();
  if (!body.ok) throw new Refusal(body.error);
  return body;
}
