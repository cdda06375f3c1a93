// The side pane of one thread.

import { read } from './api.js';
import { composer } from './composer.js';
import { el, freshId, icon } from './dom.js';
import { MessageList } from './list.js';
import { summary } from './message.js';
import { speak } from './notices.js';
import { author } from './people.js';
import { appOf, isMember, state } from './state.js';
import { markRead, threadPlace } from './unread.js';

export class ThreadPane {
  // `leave` is called when the person closes the pane.
  constructor(channelId, ts, leave) {
    this.channelId = channelId;
    this.ts = ts;
    const channel = state.channels.get(channelId);
    const name = appOf(channel)?.name ?? `#${channel.name}`;
    this.list = new MessageList('Thread messages', { channel: { id: channelId }, inThread: true, quote: () => '' });
    this.composer = this.write();
    this.node = el('div', { class: 'pane', onkeydown: (event) => leaveOnEscape(event, leave) },
      el('header', { class: 'pane-head' },
        el('button', { type: 'button', class: 'quiet narrow-only', 'aria-label': 'Back to the channel', onclick: leave }, icon('back')),
        el('h2', {}, 'Thread'), el('p', { class: 'muted' }, name),
        el('button', { type: 'button', class: 'quiet wide-only', 'aria-label': 'Close thread', onclick: leave }, icon('close'))),
      this.list.node,
      !channel.archived && isMember(channel) && el('div', { class: 'pane-foot' }, this.composer.form));
  }

  async load() {
    const found = await read('thread', { channel: this.channelId, ts: this.ts, user: state.me });
    this.list.messages.clear();
    this.list.put([...found.messages, ...found.ephemerals]);
    this.list.toEnd();
    this.seen();
  }

  hear(frame) {
    if (frame.channel !== this.channelId) return;
    if (frame.type === 'gone' || frame.type === 'ephemeral_gone') this.list.remove(frame.ts);
    if (frame.type === 'ephemeral' && frame.user === state.me && frame.ephemeral.thread_ts === this.ts) this.show(frame.ephemeral);
    if (frame.type === 'message' && this.holds(frame.message)) this.show(frame.message, frame.fresh);
  }

  holds(message) {
    return message.ts === this.ts || message.thread_ts === this.ts;
  }

  show(message, fresh = true) {
    this.list.upsert(message);
    if (message.user === state.me) this.list.toEnd();
    else if (fresh) speak(`${author(message).name} in the thread: ${summary(message)}`);
    this.seen();
  }

  seen() {
    if (document.visibilityState === 'visible') markRead(threadPlace(this.channelId, this.ts), this.list.last()?.ts);
  }

  write() {
    const broadcast = el('input', { type: 'checkbox', id: freshId('broadcast') });
    const extra = el('p', { class: 'also' }, broadcast, el('label', { for: broadcast.id }, 'Also send to the channel'));
    const options = () => {
      const wanted = broadcast.checked;
      broadcast.checked = false;
      return { broadcast: wanted };
    };
    const target = () => ({ channel: this.channelId, thread_ts: this.ts });
    return composer({ label: 'Reply in thread', target, options, extra });
  }
}

function leaveOnEscape(event, leave) {
  if (event.key === 'Escape' && !event.defaultPrevented) leave();
}
