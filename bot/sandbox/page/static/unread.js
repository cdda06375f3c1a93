// What the acting person has not seen yet: per person, channel and thread the ts up to which they read.

import { state } from './state.js';

export function markRead(place, ts) {
  if (ts && ts > readUpTo(place)) localStorage.setItem(slot(place), ts);
}

export function unreadIn(channel) {
  const upTo = readUpTo(channel.id);
  return channel.recent.filter((one) => one.ts > upTo && one.user !== state.me).length;
}

export function hasUnreadReplies(channelId, message) {
  const upTo = readUpTo(threadPlace(channelId, message.ts));
  return upTo !== '' && message.latest_reply > upTo;
}

export function threadPlace(channelId, ts) {
  return `${channelId}/${ts}`;
}

function readUpTo(place) {
  return localStorage.getItem(slot(place)) ?? '';
}

function slot(place) {
  return `read:${state.me}:${place}`;
}
