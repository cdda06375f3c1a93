// What this tab knows of the workspace, and as whom it acts. One copy, changed here only.

import { read } from './api.js';
import { tell } from './bus.js';

export const state = {
  me: null, // user id
  users: new Map(),
  apps: new Map(),
  channels: new Map(),
  usergroups: new Map(),
  homes: {}, // app id → view, of the acting user
  views: [], // open modals of the acting user, the topmost last
};

// Each tab keeps its own person, so that two people can sit side by side in two tabs.
const ACTING = 'acting-as';

export async function loadWorkspace() {
  const whole = await read('workspace');
  for (const kind of ['users', 'apps', 'channels', 'usergroups']) {
    state[kind] = new Map(whole[kind].map((one) => [one.id, one]));
  }
  state.me = chosenPerson();
  tell('workspace');
}

export async function loadStanding() {
  const { views, homes } = await read('standing', { user: state.me });
  Object.assign(state, { views, homes });
  tell('views');
  tell('home');
}

export function people() {
  return [...state.users.values()].filter((user) => !user.is_bot && !user.deleted);
}

export function actAs(userId) {
  state.me = userId;
  sessionStorage.setItem(ACTING, state.users.get(userId).name);
  tell('acting');
}

export function isMember(channel) {
  return channel.members.includes(state.me);
}

// The app at the other end of a direct message, if it is one.
export function appOf(channel) {
  return [...state.apps.values()].find((app) => channel.kind === 'im' && channel.members.includes(app.user_id));
}

function chosenPerson() {
  const asked = new URLSearchParams(location.search).get('as') ?? sessionStorage.getItem(ACTING);
  const found = people().find((user) => user.id === state.me) ?? people().find((user) => user.name === asked);
  const person = found ?? people()[0];
  if (!person) return null;
  sessionStorage.setItem(ACTING, person.name);
  return person.id;
}
