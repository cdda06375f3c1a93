// A live list of messages. Each one is redrawn alone; the reader's place and the keyboard's stay where they are.

import { keepingFocus, el } from './dom.js';
import { editor } from './editing.js';
import { messageItem } from './message.js';

const NEAR_END_PX = 80;

export class MessageList {
  // `place` is what messages need to know of their surroundings; see message.js.
  constructor(label, place) {
    this.messages = new Map(); // ts → message
    this.editing = null; // ts
    this.place = { ...place, dismiss: (ts) => this.remove(ts), edit: (message) => this.edit(message) };
    this.items = el('ol', { class: 'messages', onkeydown: (event) => this.moveFocus(event) });
    this.node = el('div', { class: 'scroll', role: 'region', 'aria-label': label, tabindex: '0' }, this.items);
    this.stayAtEnd();
  }

  put(messages) {
    const atEnd = this.isAtEnd();
    for (const message of messages) this.messages.set(message.ts, message);
    this.drawAll();
    if (atEnd) this.toEnd();
  }

  // Shows one message as it is now, and the one after it, whose heading may depend on it.
  upsert(message) {
    const atEnd = this.isAtEnd();
    const isNew = !this.messages.has(message.ts);
    this.messages.set(message.ts, message);
    const ordered = this.ordered();
    const at = ordered.indexOf(message);
    this.draw(ordered, at);
    if (isNew && at + 1 < ordered.length) this.draw(ordered, at + 1);
    this.keepOneStop();
    if (atEnd) this.toEnd();
  }

  remove(ts) {
    if (!this.messages.delete(ts)) return;
    if (this.editing === ts) this.editing = null;
    const item = this.item(ts);
    const neighbour = item.nextElementSibling ?? item.previousElementSibling ?? this.node;
    const hadFocus = item.contains(document.activeElement);
    item.remove();
    this.drawAll();
    if (hadFocus) (this.item(neighbour.dataset.ts) ?? this.node).focus();
  }

  edit(message) {
    this.editing = message.ts;
    const { form, begin } = editor(message, this.place.channel.id, () => this.endEdit(message.ts));
    const content = this.item(message.ts).querySelector('.content');
    content.replaceWith(form);
    begin();
  }

  endEdit(ts) {
    this.editing = null;
    const ordered = this.ordered();
    this.draw(ordered, ordered.findIndex((one) => one.ts === ts));
    this.item(ts).focus();
  }

  focusOn(ts) {
    const item = this.item(ts);
    if (!item) return false;
    this.keepOneStop(item);
    item.scrollIntoView({ block: 'center' });
    item.classList.add('found');
    item.focus({ preventScroll: true });
    return true;
  }

  item(ts) {
    return this.items.querySelector(`:scope > [data-ts="${CSS.escape(ts ?? '')}"]`);
  }

  ordered() {
    return [...this.messages.values()].sort((one, other) => (one.ts < other.ts ? -1 : 1));
  }

  last() {
    return this.ordered().filter((one) => !one.ephemeral).at(-1);
  }

  isAtEnd() {
    return this.node.scrollHeight - this.node.scrollTop - this.node.clientHeight < NEAR_END_PX;
  }

  // Who reads the newest goes on seeing it when the pane becomes narrower or lower.
  stayAtEnd() {
    let wasAtEnd = true;
    this.node.addEventListener('scroll', () => {
      wasAtEnd = this.isAtEnd();
    });
    new ResizeObserver(() => wasAtEnd && this.toEnd()).observe(this.node);
  }

  toEnd() {
    this.node.scrollTop = this.node.scrollHeight;
  }

  drawAll() {
    const ordered = this.ordered();
    keepingFocus(this.items, () => {
      const kept = this.editing && this.item(this.editing);
      this.items.replaceChildren(...ordered.map((message, at) =>
        (message.ts === this.editing && kept) || messageItem(message, ordered[at - 1], this.place)));
    });
    this.keepOneStop();
  }

  draw(ordered, at) {
    const message = ordered[at];
    // What its author is typing into is left alone; ending the edit draws it.
    if (message.ts === this.editing) return;
    const fresh = messageItem(message, ordered[at - 1], this.place);
    const old = this.item(message.ts);
    if (!old) this.items.insertBefore(fresh, this.item(ordered[at + 1]?.ts));
    else keepingFocus(old, () => old.replaceWith(fresh), fresh);
  }

  // One message is in the Tab order, arrow keys reach the others: hundreds of stops would bury the composer.
  keepOneStop(wanted = null) {
    const stop = wanted ?? this.items.querySelector(':scope > [tabindex="0"]') ?? this.items.lastElementChild;
    for (const item of this.items.children) item.tabIndex = item === stop ? 0 : -1;
  }

  moveFocus(event) {
    const item = event.target.closest('[data-ts]');
    if (event.target !== item) return;
    const to = {
      ArrowDown: item.nextElementSibling, ArrowUp: item.previousElementSibling,
      Home: this.items.firstElementChild, End: this.items.lastElementChild,
    }[event.key];
    if (!to) return;
    event.preventDefault();
    this.keepOneStop(to);
    to.focus();
  }
}
