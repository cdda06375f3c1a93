// Where the page is. The address says it, in the form of permalinks, so that links, reload and Back work.
//
//   /archives/C1    a channel          /archives/C1/p1700000000000100[?thread_ts=1700000000.000100]    a message
//   /app/A1         messages with an app           /app/A1/home    its Home tab

import { tell } from './bus.js';
import { state } from './state.js';

export function here() {
  const [, kind, id, rest] = location.pathname.split('/');
  if (kind === 'app' && state.apps.has(id)) return { app: id, home: rest === 'home' };
  if (kind !== 'archives' || !state.channels.has(id)) return { channel: firstChannel(), ts: null, thread: null };
  return { channel: id, ts: fromLink(rest), thread: new URLSearchParams(location.search).get('thread_ts') };
}

export function go(address, { replace = false } = {}) {
  history[replace ? 'replaceState' : 'pushState'](null, '', address);
  tell('place');
}

export function channelAddress(id) {
  return `/archives/${id}`;
}

export function threadAddress(channel, threadTs, ts = threadTs) {
  return `/archives/${channel}/p${ts.replace('.', '')}?thread_ts=${threadTs}`;
}

export function messageAddress(channel, message) {
  const own = `/archives/${channel}/p${message.ts.replace('.', '')}`;
  return message.thread_ts && message.thread_ts !== message.ts ? threadAddress(channel, message.thread_ts, message.ts) : own;
}

// Links into the workspace, wherever they stand, open without a new page.
export function followInPlace() {
  document.addEventListener('click', (event) => {
    const anchor = event.target.closest('a[href]');
    if (!anchor || event.defaultPrevented || event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
    const url = new URL(anchor.href);
    if (url.origin !== location.origin || !/^\/(archives|app)\//.test(url.pathname)) return;
    event.preventDefault();
    go(url.pathname + url.search);
  });
  addEventListener('popstate', () => tell('place'));
}

function firstChannel() {
  const all = [...state.channels.values()].filter((channel) => channel.kind !== 'im');
  return (all.find((channel) => channel.members.includes(state.me)) ?? all[0])?.id ?? null;
}

function fromLink(part) {
  const digits = /^p(\d{7,})$/.exec(part ?? '')?.[1];
  return digits ? `${digits.slice(0, -6)}.${digits.slice(-6)}` : null;
}
