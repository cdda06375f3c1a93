// Who somebody is, in words and as a small mark.

import { el } from './dom.js';
import { state } from './state.js';

const TINTS = 6;

export function userName(id) {
  return state.users.get(id)?.name ?? id;
}

// Whoever wrote a message: a person, an app's bot user, or an app without user behind a webhook.
export function author(message) {
  const user = state.users.get(message.user);
  const app = [...state.apps.values()].find((one) => one.bot_id === message.bot_id);
  const name = message.username ?? user?.name ?? app?.name ?? 'somebody';
  return { name, isBot: Boolean(message.bot_id ?? user?.is_bot), key: message.user ?? message.bot_id ?? name };
}

export function avatar({ name, key, isBot }) {
  const tint = [...key].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % TINTS;
  return el('span', { class: `avatar tint-${tint}${isBot ? ' bot' : ''}`, 'aria-hidden': 'true' }, initials(name));
}

function initials(name) {
  return (/^\d+$/.test(name) ? name.slice(0, 3) : name.slice(0, 2)).toUpperCase();
}
