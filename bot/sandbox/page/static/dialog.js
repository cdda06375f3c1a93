// Dialogs of the page. The browser's own <dialog> keeps the keyboard inside and closes on Escape.

import { bookmark, el, freshId, icon } from './dom.js';

// `oncancel` is what the cross, Escape and nothing else mean; it decides itself whether the dialog closes.
export function openDialog({ title, content, small, oncancel }) {
  const back = bookmark();
  const heading = el('h2', { id: freshId('dialog') }, title);
  const cross = el('button', {
    class: 'quiet', type: 'button', 'aria-label': 'Close', onclick: oncancel, data: { key: 'dialog-close' },
  }, icon('close'));
  const dialog = el('dialog', { class: small ? 'small' : '', 'aria-labelledby': heading.id },
    el('header', {}, heading, cross), content);
  dialog.addEventListener('cancel', (event) => {
    event.preventDefault();
    oncancel();
  });
  document.body.append(dialog);
  dialog.showModal();
  return { dialog, heading, close: () => shut(dialog, back) };
}

// Asks before something is done, and answers whether it is wanted.
export function confirmed({ title, content, yes, no, danger }) {
  return new Promise((resolve) => {
    const finish = (answer) => {
      opened.close();
      resolve(answer);
    };
    const body = el('div', { class: 'dialog-body' }, content);
    const deny = el('button', { type: 'button', class: 'button', onclick: () => finish(false) }, no);
    const confirm = el('button', {
      type: 'button', class: `button ${danger ? 'danger' : 'primary'}`, onclick: () => finish(true),
    }, yes);
    const whole = el('div', {}, body, el('footer', {}, deny, confirm));
    const opened = openDialog({ title, content: whole, small: true, oncancel: () => finish(false) });
    // The harmless answer has the keyboard first.
    deny.focus();
  });
}

function shut(dialog, back) {
  dialog.close();
  dialog.remove();
  back();
}
