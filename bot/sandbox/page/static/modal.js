// The modal that stands on top of the acting person's stack. What stands there is the app's and the server's business:
// the page shows it, sends what is filled in, and tells faults beside their fields.

import { act } from './api.js';
import { blocks } from './blocks.js';
import { openDialog } from './dialog.js';
import { el, keepingFocus } from './dom.js';
import { field } from './inputs.js';
import { busy } from './interact.js';
import { attempt } from './notices.js';
import { state } from './state.js';
import { plainText } from './textobject.js';

let shown = null; // {id, hash, opened, form, fields, trouble}

// Brings the dialog in line with the stack.
export function drawModal() {
  const view = state.views.at(-1);
  if (shown && shown.id !== view?.id) dismiss();
  if (!view) return;
  if (!shown) present(view);
  else if (shown.hash !== view.hash) renew(view);
}

function present(view) {
  const form = el('form', { class: 'modal', novalidate: true, onsubmit: (event) => submit(event, view.id) });
  const opened = openDialog({ title: view.title.text, content: form, oncancel: () => leave(view.id) });
  shown = { id: view.id, opened, form, fields: [] };
  fill(view, {});
  (shown.fields[0]?.control ?? opened.heading.nextElementSibling).focus();
}

// The app changed the open modal: what is typed into fields that remain is kept, as is the keyboard's place.
function renew(view) {
  const typed = Object.fromEntries(shown.fields.map((one) => [one.key, one.value()]));
  shown.opened.heading.textContent = view.title.text;
  keepingFocus(shown.form, () => fill(view, typed), shown.opened.dialog);
}

function fill(view, typed) {
  shown.hash = view.hash;
  shown.fields = [];
  const content = view.blocks.map((block) => (block.type === 'input' ? input(block, typed) : blocks([block], { view_id: view.id })));
  shown.trouble = el('p', { class: 'fault', role: 'alert' });
  const leaveButton = el('button', { type: 'button', class: 'button', onclick: () => leave(view.id), data: { key: 'leave' } },
    view.close ? plainText(view.close) : 'Close');
  const send = view.submit && el('button', { type: 'submit', class: 'button primary', data: { key: 'submit' } }, plainText(view.submit));
  shown.form.replaceChildren(el('div', { class: 'dialog-body' }, content, shown.trouble), el('footer', {}, leaveButton, send || ''));
}

function input(block, typed) {
  const made = field(block, typed[`${block.block_id}:${block.element.action_id ?? ''}`]);
  shown.fields.push(made);
  return made.node;
}

async function submit(event, viewId) {
  event.preventDefault();
  const form = shown;
  if (form.form.getAttribute('aria-busy') === 'true') return;
  const faults = Object.fromEntries(form.fields.map((one) => [one.blockId, one.fault()]).filter(([, words]) => words));
  if (tellFaults(form, faults)) return;
  const values = Object.fromEntries(form.fields.map((one) => [one.blockId, one.value()]));
  const body = { user: state.me, view_id: viewId, values };
  const outcome = await busy(form.form, () => attempt(() => act('act/submit', body), (words) => tellTrouble(form, words)));
  if (outcome?.acked === false) tellTrouble(form, 'The app did not answer in time. Nothing was sent; try again.');
  if (outcome?.response?.response_action === 'errors') tellFaults(form, outcome.response.errors);
}

// Says what is wrong beside each field and takes the keyboard to the first; true when anything is.
function tellFaults(form, faults) {
  for (const one of form.fields) one.say(faults[one.blockId] ?? '');
  tellTrouble(form, '');
  const first = form.fields.find((one) => faults[one.blockId]);
  first?.control.focus();
  return Boolean(first);
}

function tellTrouble(form, words) {
  form.trouble.textContent = words;
}

function leave(viewId) {
  return attempt(() => act('act/close', { user: state.me, view_id: viewId }));
}

function dismiss() {
  shown.opened.close();
  shown = null;
}
