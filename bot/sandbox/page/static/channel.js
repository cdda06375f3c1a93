// The main pane of a channel or a direct message: its heading, its messages, and where one writes.

import { act, read } from './api.js';
import { composer } from './composer.js';
import { el, keepingFocus } from './dom.js';
import { MessageList } from './list.js';
import { summary } from './message.js';
import { attempt, speak } from './notices.js';
import { author, userName } from './people.js';
import { appOf, isMember, state } from './state.js';
import { tabs } from './tabs.js';
import { markRead } from './unread.js';

export class ChannelPane {
  constructor(id) {
    this.id = id;
    this.list = new MessageList('Messages', { channel: { id }, inThread: false, quote: (ts) => this.quote(ts) });
    this.list.node.addEventListener('scroll', () => this.seen());
    this.head = el('header', { class: 'pane-head' });
    this.jump = el('button', { type: 'button', class: 'button jump', hidden: true, onclick: () => this.toEnd() }, 'New messages ↓');
    this.foot = el('div', { class: 'pane-foot' });
    this.node = el('div', { class: 'pane' }, this.head, this.list.node, this.jump, this.foot);
    this.composer = composer({ label: `Message ${this.title()}`, target: () => ({ channel: id }) });
    this.frame();
  }

  async load() {
    const found = await read('messages', { channel: this.id, user: state.me });
    this.list.messages.clear();
    this.list.put([...found.messages, ...found.ephemerals]);
    this.offerEarlier(found.more);
    this.toEnd();
  }

  // Draws what depends on the workspace rather than on messages: name, members, whether one may write.
  frame() {
    const channel = state.channels.get(this.id);
    const app = appOf(channel);
    keepingFocus(this.head, () => this.head.replaceChildren(
      el('h1', {}, this.title()), app ? tabs(app, 'messages') : el('p', { class: 'muted' }, this.members(channel))));
    const foot = this.footContent(channel);
    if (this.foot.firstChild !== foot) this.foot.replaceChildren(foot);
  }

  title() {
    const channel = state.channels.get(this.id);
    return appOf(channel)?.name ?? `#${channel.name}`;
  }

  hear(frame) {
    if (frame.channel !== this.id) return;
    if (frame.type === 'gone' || frame.type === 'ephemeral_gone') this.list.remove(frame.ts);
    if (frame.type === 'ephemeral') this.hearEphemeral(frame);
    if (frame.type === 'message' && isTopLevel(frame.message)) this.hearMessage(frame);
  }

  hearMessage({ message, fresh }) {
    // Something older than what is shown changed: it will be read when it is shown.
    if (!fresh && !this.list.messages.has(message.ts)) return;
    this.list.upsert(message);
    if (!fresh) return;
    if (message.user === state.me) this.toEnd();
    else speak(`${author(message).name} in ${this.title()}: ${summary(message)}`);
    this.arrived();
  }

  hearEphemeral({ user, ephemeral }) {
    if (user !== state.me || ephemeral.thread_ts) return;
    this.list.upsert(ephemeral);
    this.toEnd();
    speak(`Only visible to you, ${author(ephemeral).name}: ${summary(ephemeral)}`);
  }

  // Marks as read what is really before somebody's eyes.
  seen() {
    if (document.visibilityState !== 'visible' || !this.list.isAtEnd()) return;
    this.jump.hidden = true;
    markRead(this.id, this.list.last()?.ts);
  }

  arrived() {
    if (!this.list.isAtEnd()) this.jump.hidden = false;
    this.seen();
  }

  toEnd() {
    this.list.toEnd();
    this.seen();
  }

  quote(ts) {
    const parent = this.list.messages.get(ts);
    return parent ? `: “${summary(parent).slice(0, 60)}”` : '';
  }

  offerEarlier(more) {
    this.list.node.querySelector('.earlier')?.remove();
    if (!more) return;
    this.list.node.prepend(el('button', {
      type: 'button', class: 'button earlier', onclick: () => attempt(() => this.loadEarlier()),
    }, 'Show earlier messages'));
  }

  async loadEarlier() {
    const [first] = this.list.ordered();
    const found = await read('messages', { channel: this.id, before: first.ts });
    const fromEnd = this.list.node.scrollHeight - this.list.node.scrollTop;
    this.list.put(found.messages);
    this.offerEarlier(found.more);
    this.list.node.scrollTop = this.list.node.scrollHeight - fromEnd;
    this.list.focusOn(found.messages.at(-1).ts);
  }

  members(channel) {
    const names = channel.members.map(userName);
    return names.length > 6 ? `${names.length} members` : names.join(', ');
  }

  footContent(channel) {
    if (channel.archived) return el('p', { class: 'closed' }, 'This channel is archived.');
    if (isMember(channel)) return this.composer.form;
    const join = () => attempt(() => act('channels/join', { channel: this.id, user: state.me }));
    return el('p', { class: 'closed' }, `${userName(state.me)} is not a member. `,
      el('button', { type: 'button', class: 'button', onclick: join }, 'Join the channel'));
  }
}

function isTopLevel(message) {
  return !message.thread_ts || message.thread_ts === message.ts || message.subtype === 'thread_broadcast';
}
