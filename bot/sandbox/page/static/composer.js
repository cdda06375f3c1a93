// Where a person writes. Enter sends, Shift+Enter begins a line; a slash at the start makes it a command.

import { act } from './api.js';
import { el, freshId, icon } from './dom.js';
import { toApp } from './interact.js';
import { attempt } from './notices.js';
import { state } from './state.js';

// What was begun and not sent, by person and place: it is there again when they come back.
const drafts = new Map();

// `target()` says where: {channel, thread_ts?}. `extra` is a control below the text, such as "also send to channel".
export function composer({ label, target, options = () => ({}), extra = null }) {
  const place = JSON.stringify([state.me, target()]);
  const trouble = el('p', { class: 'trouble', role: 'alert', id: freshId('trouble') });
  const text = el('textarea', {
    id: freshId('text'), rows: '1', placeholder: label, 'aria-describedby': trouble.id, onkeydown: sendOnEnter, oninput: begun,
    value: drafts.get(place),
  });
  const send = el('button', { class: 'button primary send', type: 'submit', 'aria-label': 'Send' }, icon('send'));
  const form = el('form', { class: 'composer', onsubmit: (event) => submitted(event) },
    trouble, el('label', { class: 'unseen', for: text.id }, label), el('div', { class: 'write' }, text, send), extra);

  function begun() {
    drafts.set(place, text.value);
    grow.call(text);
  }

  function fill(words) {
    text.value = words;
    begun();
  }

  async function submitted(event) {
    event.preventDefault();
    const typed = text.value.trim();
    if (!typed) return;
    trouble.textContent = '';
    // Emptied at once, so that nothing is sent twice; given back when it was refused.
    fill('');
    await attempt(() => say(typed, { ...target(), ...options() }), (words) => {
      trouble.textContent = words;
      fill(typed);
    });
  }

  return { form, focus: () => text.focus() };
}

export function grow() {
  this.style.height = 'auto';
  this.style.height = `${this.scrollHeight}px`;
}

// Names become mentions when somebody bears them; everything else stays as typed.
export function encoded(typed) {
  return typed
    .replace(/(?<![\w@<.])@([\w-]+(?:\.[\w-]+)*)/g, (whole, name) => mention(name) ?? whole)
    .replace(/(?<![\w#<&])#([\w-]+)/g, (whole, name) => named(state.channels, name, (id) => `<#${id}>`) ?? whole);
}

function say(typed, where) {
  if (/^\/[a-z]/.test(typed)) return command(typed, where);
  return act('act/post', { user: state.me, ...where, text: encoded(typed) });
}

async function command(typed, where) {
  const body = { user: state.me, channel: where.channel, thread_ts: where.thread_ts, text: typed };
  const known = [...state.apps.values()].some((app) => app.commands.includes(typed.split(/\s/)[0]));
  // A word that is no command is refused here, where the composer can say so and keep the text.
  if (!known || where.thread_ts) return act('act/command', body);
  return toApp('act/command', body);
}

function mention(name) {
  if (['here', 'channel', 'everyone'].includes(name)) return `<!${name}>`;
  return named(state.users, name, (id) => `<@${id}>`);
}

function named(things, name, form) {
  const found = [...things.values()].find((one) => one.name === name);
  return found && form(found.id);
}

function sendOnEnter(event) {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  this.form.requestSubmit();
}
