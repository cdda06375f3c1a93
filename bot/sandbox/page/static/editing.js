// A message being edited in place by its author. Enter saves, Escape leaves it as it was.

import { act } from './api.js';
import { encoded, grow } from './composer.js';
import { el } from './dom.js';
import { attempt } from './notices.js';
import { userName } from './people.js';
import { state } from './state.js';

export function editor(message, channelId, done) {
  const text = el('textarea', { rows: '1', 'aria-label': 'Edit message', value: readable(message.sent_text), oninput: grow });
  const save = async (event) => {
    event.preventDefault();
    const body = { channel: channelId, ts: message.ts, text: encoded(text.value.trim()) };
    const saved = text.value.trim() && (await attempt(() => act('act/edit', body)));
    if (saved) done();
  };
  text.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      done();
    }
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) save(event);
  });
  const form = el('form', { class: 'editor', onsubmit: save }, text,
    el('div', { class: 'editor-buttons' },
      el('button', { type: 'button', class: 'button', onclick: done }, 'Cancel'),
      el('button', { type: 'submit', class: 'button primary' }, 'Save')));
  return { form, begin: () => begin(text) };
}

function begin(text) {
  grow.call(text);
  text.focus();
  text.setSelectionRange(text.value.length, text.value.length);
}

// Mentions as a person types them; saving makes mentions of them again.
function readable(typed) {
  return typed
    .replace(/<@(\w+)>/g, (_, id) => `@${userName(id)}`)
    .replace(/<#(\w+)>/g, (whole, id) => (state.channels.has(id) ? `#${state.channels.get(id).name}` : whole))
    .replace(/<!(here|channel|everyone)>/g, '@$1');
}
