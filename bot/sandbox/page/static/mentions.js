// Names inside text: people, groups, channels, and links. An address opens only when its scheme is harmless.

import { el } from './dom.js';
import { userName } from './people.js';
import { state } from './state.js';

const SCHEMES = new Set(['http:', 'https:', 'mailto:', 'tel:']);

export function userMention(id) {
  return el('span', { class: `mention${id === state.me ? ' me' : ''}` }, `@${userName(id)}`);
}

export function groupMention(id) {
  return el('span', { class: 'mention' }, `@${state.usergroups.get(id)?.handle ?? id}`);
}

export function rangeMention(range) {
  return el('span', { class: 'mention me' }, `@${range}`);
}

export function channelMention(id) {
  const channel = state.channels.get(id);
  if (!channel) return el('span', { class: 'mention' }, `#${id}`);
  return el('a', { class: 'mention', href: `/archives/${id}` }, `#${channel.name}`);
}

export function link(address, label) {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!url || !SCHEMES.has(url.protocol)) return label ?? address;
  // Addresses of this workspace open in place (see route.js), others leave it alone behind them.
  const outside = url.origin === location.origin ? {} : { target: '_blank', rel: 'noopener noreferrer' };
  return el('a', { href: address, title: label ? address : null, ...outside }, label ?? address);
}
