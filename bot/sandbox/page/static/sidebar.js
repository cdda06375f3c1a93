// The side of the workspace: as whom one acts, where one can go, what is unread there.

import { el, keepingFocus } from './dom.js';
import { channelAddress, here } from './route.js';
import { actAs, appOf, isMember, people, state } from './state.js';
import { unreadIn } from './unread.js';

const COUNT_MAX = 99;

export function drawSide() {
  drawPeople();
  const nav = document.getElementById('places');
  keepingFocus(nav, () => nav.replaceChildren(
    group('Channels', channels().map(channelLink)), group('Apps', [...state.apps.values()].map(appLink))));
}

export function listenForPeople() {
  document.getElementById('acting').addEventListener('change', (event) => actAs(event.target.value));
}

function drawPeople() {
  const select = document.getElementById('acting');
  select.replaceChildren(...people().map((user) => el('option', { value: user.id }, user.real_name)));
  select.value = state.me;
}

function channels() {
  const visible = [...state.channels.values()].filter((one) => one.kind === 'channel' || (one.kind === 'group' && isMember(one)));
  return visible.sort((one, other) => one.name.localeCompare(other.name, undefined, { numeric: true }));
}

function group(title, items) {
  const id = `places-${title.toLowerCase()}`;
  return el('section', { 'aria-labelledby': id }, el('h2', { id }, title), el('ul', {}, items.map((item) => el('li', {}, item))));
}

function channelLink(channel) {
  const now = here();
  const kind = [channel.archived && 'archived', !isMember(channel) && 'outside'].filter(Boolean).join(' ');
  const sign = channel.kind === 'group' ? '◆' : '#';
  return link({
    address: channelAddress(channel.id), sign, name: channel.name, kind, key: channel.id,
    current: now.channel === channel.id, unread: isMember(channel) ? unreadIn(channel) : 0,
  });
}

function appLink(app) {
  const now = here();
  const dm = [...state.channels.values()].find((one) => isMember(one) && appOf(one) === app);
  return link({
    address: `/app/${app.id}`, sign: '›', name: app.name, kind: '', key: app.id,
    current: now.app === app.id || (dm && now.channel === dm.id), unread: dm ? unreadIn(dm) : 0,
  });
}

function link({ address, sign, name, kind, key, current, unread }) {
  const shown = unread > COUNT_MAX ? `${COUNT_MAX}+` : String(unread);
  return el('a', { href: address, class: `${kind}${unread ? ' unread' : ''}`, 'aria-current': current ? 'page' : null, data: { key } },
    el('span', { class: 'sign', 'aria-hidden': 'true' }, sign), el('span', { class: 'name' }, name),
    unread > 0 && el('span', { class: 'count' }, shown, el('span', { class: 'unseen' }, ' unread')));
}
