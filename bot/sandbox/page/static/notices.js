// Words to the person who acts: what went wrong, aloud and in sight; and what happened, for those who listen.

import { Refusal } from './api.js';
import { el, icon } from './dom.js';

const SHOWN_MS = 12_000;
const SPOKEN_MAX = 6;

export function notice(text) {
  const node = el('div', { class: 'notice' }, el('p', {}, text),
    el('button', { class: 'quiet', type: 'button', 'aria-label': 'Dismiss', onclick: () => node.remove() }, icon('close')));
  document.getElementById('notices').append(node);
  setTimeout(() => node.remove(), SHOWN_MS);
}

export function speak(text) {
  const place = document.getElementById('announcer');
  place.append(el('p', {}, text));
  while (place.children.length > SPOKEN_MAX) place.firstChild.remove();
}

// Runs what a person asked for. A refusal is told to them; anything else is a fault of the page and surfaces as one.
export async function attempt(work, refused = notice) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refused(error.message);
    return undefined;
  }
}
