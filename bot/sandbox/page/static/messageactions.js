// What a person can do with a message: react, edit, delete, copy its link, or hand it to an app.

import { act } from './api.js';
import { confirmed } from './dialog.js';
import { el } from './dom.js';
import { emoji, PICKED } from './emoji.js';
import { toApp } from './interact.js';
import { openMenu } from './menu.js';
import { attempt, speak } from './notices.js';
import { messageAddress } from './route.js';
import { state } from './state.js';

export function reactMenu(anchor, message, place) {
  openMenu(anchor, 'Reactions', PICKED.map((name) => ({
    label: name, glyph: emoji(name), run: () => react(message, place, name),
  })));
}

// Adds the acting person's reaction, or takes it back.
export function react(message, place, name) {
  const mine = message.reactions?.some((one) => one.name === name && one.users.includes(state.me));
  const body = { user: state.me, channel: place.channel.id, ts: message.ts, name };
  return attempt(() => act(mine ? 'act/unreact' : 'act/react', body));
}

export function messageActions(anchor, message, place) {
  const own = message.user === state.me;
  openMenu(anchor, 'Message', [
    ...[...state.apps.values()].flatMap((app) => shortcuts(app, message, place)),
    { label: 'Copy link', run: () => copyLink(message, place) },
    ...(own ? [
      { label: 'Edit message', run: () => place.edit(message) },
      { label: 'Delete message', danger: true, run: () => remove(message, place) },
    ] : []),
  ]);
}

function shortcuts(app, message, place) {
  return Object.entries(app.shortcuts).map(([callbackId, label]) => ({
    label: `${label} · ${app.name}`,
    run: () => toApp('act/shortcut', {
      user: state.me, app: app.id, channel: place.channel.id, ts: message.ts, callback_id: callbackId,
    }),
  }));
}

async function copyLink(message, place) {
  await navigator.clipboard.writeText(location.origin + messageAddress(place.channel.id, message));
  speak('Link copied');
}

async function remove(message, place) {
  const wanted = await confirmed({
    title: 'Delete message', content: el('p', {}, 'Delete this message for everybody? This cannot be undone.'),
    yes: 'Delete', no: 'Keep it', danger: true,
  });
  if (wanted) await attempt(() => act('act/delete', { channel: place.channel.id, ts: message.ts }));
}
