// One message as a list item: who, when, what, and what can be done with it.

import { attachment, file } from './attachments.js';
import { blocks } from './blocks.js';
import { el, icon } from './dom.js';
import { emoji } from './emoji.js';
import { messageActions, react, reactMenu } from './messageactions.js';
import { mrkdwn } from './mrkdwn.js';
import { author, avatar, userName } from './people.js';
import { go, threadAddress } from './route.js';
import { state } from './state.js';
import { clock, dayName, isSameDay } from './time.js';
import { hasUnreadReplies } from './unread.js';

const COMPACT_SECONDS = 300;
const NOBODY = { name: '–', key: '', isBot: false };

// `place` is {channel, inThread, dismiss}; `previous` is the message above it, which decides what need not be repeated.
export function messageItem(message, previous, place) {
  const who = author(message);
  const compact = follows(message, previous);
  const newDay = !previous || !isSameDay(previous.ts, message.ts);
  const kind = [compact && 'compact', message.ephemeral && 'ephemeral', mentionsMe(message) && 'mentions-me'];
  return el('li', { class: kind.filter(Boolean).join(' '), tabindex: '-1', data: { ts: message.ts } },
    newDay && !place.inThread && el('p', { class: 'day' }, el('span', {}, dayName(message.ts))),
    el('div', { class: 'message' },
      avatar(message.subtype === 'tombstone' ? NOBODY : who),
      el('div', { class: 'message-main' }, head(message, who), told(message, place), body(message, place), foot(message, place)),
      toolbar(message, place)));
}

// The message in one line of plain words, for listeners and previews.
export function summary(message) {
  const holder = el('div', {}, mrkdwn(message.text ?? ''));
  return holder.textContent.replace(/\s+/g, ' ').trim().slice(0, 160);
}

function head(message, who) {
  return el('p', { class: 'head' },
    // Whose a deleted message was is gone with it.
    message.subtype !== 'tombstone' && el('strong', { class: 'author' }, who.name),
    who.isBot && el('span', { class: 'badge' }, 'bot'),
    clock(message.ts),
    message.edited && el('span', { class: 'muted edited' }, '(edited)'));
}

// What sets this message apart from an ordinary one.
function told(message, place) {
  if (message.ephemeral) return el('p', { class: 'aside' }, icon('eye'), 'Only visible to you');
  if (message.subtype !== 'thread_broadcast') return null;
  if (place.inThread) return el('p', { class: 'aside' }, 'Also sent to the channel');
  const address = threadAddress(place.channel.id, message.thread_ts);
  return el('p', { class: 'aside' }, el('a', { href: address }, `replied to a thread${place.quote(message.thread_ts)}`));
}

function body(message, place) {
  if (message.subtype === 'tombstone') return el('p', { class: 'muted' }, 'This message was deleted.');
  const where = { channel: place.channel.id, ts: message.ts };
  const content = message.blocks?.length ? blocks(message.blocks, where) : text(message);
  return el('div', { class: 'content' }, content,
    (message.attachments ?? []).map((part) => attachment(part, where)), (message.files ?? []).map(file));
}

function text(message) {
  const words = message.text ? mrkdwn(message.text) : [];
  return el('div', { class: message.subtype === 'me_message' ? 'prose me-message' : 'prose' }, words);
}

function foot(message, place) {
  return [reactions(message, place), replies(message, place)];
}

function reactions(message, place) {
  if (!message.reactions?.length) return null;
  return el('div', { class: 'reactions' }, message.reactions.map((one) => reaction(message, one, place)));
}

function reaction(message, one, place) {
  const mine = one.users.includes(state.me);
  const names = one.users.map(userName).join(', ');
  return el('button', {
    type: 'button', class: 'reaction', 'aria-pressed': String(mine), title: `${names}: :${one.name}:`,
    'aria-label': `${one.name}, ${one.count}: ${names}`, data: { key: `${message.ts}:reaction:${one.name}` },
    onclick: () => react(message, place, one.name),
  }, emoji(one.name), el('span', { class: 'count' }, String(one.count)));
}

function replies(message, place) {
  if (place.inThread || !message.reply_count || message.subtype === 'thread_broadcast') return null;
  const words = `${message.reply_count} ${message.reply_count === 1 ? 'reply' : 'replies'}`;
  const unread = hasUnreadReplies(place.channel.id, message);
  return el('p', { class: 'replies' },
    el('a', { href: threadAddress(place.channel.id, message.ts), data: { key: `${message.ts}:replies` } },
      words, unread && el('span', { class: 'new' }, 'new')),
    el('span', { class: 'muted' }, 'last at ', clock(message.latest_reply)));
}

function toolbar(message, place) {
  if (message.subtype === 'tombstone') return null;
  if (message.ephemeral) {
    return el('div', { class: 'toolbar' }, tool('Dismiss', 'close', message, () => place.dismiss(message.ts)));
  }
  const reply = () => go(threadAddress(place.channel.id, message.ts));
  return el('div', { class: 'toolbar' },
    tool('Add a reaction', 'smile', message, (event) => reactMenu(event.currentTarget, message, place), 'menu'),
    !place.inThread && message.subtype !== 'thread_broadcast' && tool('Reply in thread', 'reply', message, reply),
    tool('More actions', 'more', message, (event) => messageActions(event.currentTarget, message, place), 'menu'));
}

function tool(label, picture, message, onclick, popup = null) {
  return el('button', {
    type: 'button', class: 'quiet', 'aria-label': label, title: label, onclick, 'aria-haspopup': popup,
    'aria-expanded': popup && 'false', data: { key: `${message.ts}:${label}` },
  }, icon(picture));
}

function follows(message, previous) {
  if (!previous || previous.ephemeral || message.ephemeral || message.subtype || previous.subtype) return false;
  const same = author(previous).key === author(message).key && isSameDay(previous.ts, message.ts);
  return same && Number(message.ts) - Number(previous.ts) < COMPACT_SECONDS;
}

function mentionsMe(message) {
  return (message.text ?? '').includes(`<@${state.me}>`);
}
