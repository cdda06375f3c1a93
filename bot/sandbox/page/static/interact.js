// What pressing something of an app does: ask first if the app wants that, tell the app, say when it did not answer.

import { act } from './api.js';
import { confirmed } from './dialog.js';
import { attempt, notice } from './notices.js';
import { state } from './state.js';
import { textObject } from './textobject.js';

// `where` is {channel, ts} for a message and {view_id} for a modal or a Home tab.
export async function press(where, block, element, control, extra = {}) {
  if (control.getAttribute('aria-busy') === 'true') return;
  if (element.confirm && !(await confirmed(question(element.confirm)))) return;
  const body = { user: state.me, ...where, block_id: block.block_id, action_id: element.action_id, ...extra };
  await busy(control, () => toApp('act/press', body));
}

// Does something that an app answers, and returns the outcome; an app that stays silent is reported.
export async function toApp(operation, body) {
  const outcome = await attempt(() => act(operation, body));
  if (outcome && outcome.acked === false) notice('The app did not answer in time. It may not be connected.');
  return outcome;
}

export async function busy(control, work) {
  control.setAttribute('aria-busy', 'true');
  try {
    return await work();
  } finally {
    control.removeAttribute('aria-busy');
  }
}

function question(confirm) {
  return {
    title: confirm.title.text, content: textObject(confirm.text), yes: confirm.confirm.text, no: confirm.deny.text,
    danger: confirm.style === 'danger',
  };
}
