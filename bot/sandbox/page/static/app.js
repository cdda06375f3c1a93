// The page's own start: reads the workspace, follows the stream, and puts the panes where the address says.

import { act, connect } from './api.js';
import { on } from './bus.js';
import { ChannelPane } from './channel.js';
import { HomePane } from './home.js';
import { Inbox } from './inbox.js';
import { drawModal } from './modal.js';
import { attempt, notice } from './notices.js';
import { channelAddress, followInPlace, go, here } from './route.js';
import { drawSide, listenForPeople } from './sidebar.js';
import { loadStanding, loadWorkspace, state } from './state.js';
import { ThreadPane } from './thread.js';

const panes = { main: null, thread: null };
const inbox = new Inbox(take);

// Reads everything again, after the stream was interrupted too; what is being typed stays.
async function renew() {
  await loadWorkspace();
  await loadStanding();
  await Promise.all([panes.main, panes.thread].map((one) => one?.pane.load()));
  await show();
}

// Another person sees another workspace.
async function restart() {
  panes.main = null;
  panes.thread = null;
  await renew();
}

// Each step asks anew where the page is: the person may have gone on while something was being read.
async function show() {
  const { app, home } = here();
  if (app && !home) return openMessages(app);
  await showMain(here());
  await showThread(here());
  drawSide();
  return undefined;
}

async function openMessages(appId) {
  const dm = await act('dms/open', { user: state.me, app: appId });
  if (!state.channels.has(dm.id)) await loadWorkspace();
  go(channelAddress(dm.id), { replace: true });
}

async function showMain(place) {
  const key = place.home ? `home:${place.app}` : place.channel;
  if (panes.main?.key !== key) {
    const pane = place.home ? new HomePane(place.app) : new ChannelPane(place.channel);
    const moved = panes.main !== null;
    panes.main = { key, pane };
    document.getElementById('main').replaceChildren(pane.node);
    await pane.load();
    nameTheTab(pane);
    if (moved) document.getElementById('main').focus();
  }
  if (place.ts && !place.thread) panes.main.pane.list?.focusOn(place.ts);
}

async function showThread(place) {
  const side = document.getElementById('thread');
  const key = place.thread ? `${place.channel}/${place.thread}` : null;
  if ((panes.thread?.key ?? null) !== key) {
    const left = panes.thread;
    panes.thread = key && { key, pane: new ThreadPane(place.channel, place.thread, leaveThread) };
    side.replaceChildren(...(panes.thread ? [panes.thread.pane.node] : []));
    side.hidden = !panes.thread;
    document.getElementById('workspace').classList.toggle('with-thread', Boolean(panes.thread));
    if (!panes.thread && left?.key.startsWith(panes.main.key)) comeBack(left.pane.ts);
    if (panes.thread) await openThread(place);
  }
}

// From a thread the keyboard goes back to the message that it hangs on, while that is there.
function comeBack(ts) {
  if (!panes.main.pane.list?.focusOn(ts)) document.getElementById('main').focus();
}

async function openThread(place) {
  await panes.thread.pane.load();
  const meansReply = place.ts && place.ts !== place.thread;
  if (!meansReply || !panes.thread.pane.list.focusOn(place.ts)) panes.thread.pane.composer.focus();
}

function leaveThread() {
  go(channelAddress(here().channel));
}

function nameTheTab(pane) {
  document.title = `${pane.title?.() ?? pane.app.name} · Sandbox workspace`;
}

function take(frame) {
  if (frame.type !== 'workspace' && !isNews(frame)) {
    apply(frame);
    return;
  }
  inbox.during(() => attempt(async () => {
    await loadWorkspace();
    apply(frame);
  }));
}

function apply(frame) {
  if (frame.type === 'views' && frame.user === state.me) {
    state.views = frame.views;
    drawModal();
  }
  if (frame.type === 'home' && frame.user === state.me) {
    state.homes[frame.app_id] = frame.view;
    if (panes.main?.pane.app?.id === frame.app_id) panes.main.pane.renewed?.();
  }
  panes.main?.pane.hear?.(frame);
  panes.thread?.pane.hear(frame);
  if (frame.type === 'gone' && panes.thread?.pane.ts === frame.ts) leaveThread();
  if (frame.fresh) count(frame);
}

// A message of somebody, or in a place, that this tab has not heard of yet.
function isNews({ type, channel, message }) {
  return type === 'message' && (!state.channels.has(channel) || (message.user && !state.users.has(message.user)));
}

function count({ channel, message }) {
  const inThread = message.thread_ts && message.thread_ts !== message.ts && message.subtype !== 'thread_broadcast';
  const { recent } = state.channels.get(channel);
  const isKnown = recent.some((one) => one.ts === message.ts);
  if (!inThread && !isKnown) recent.push({ ts: message.ts, user: message.user ?? '' });
  drawSide();
}

function workspaceChanged() {
  if (panes.main && state.channels.has(panes.main.key)) panes.main.pane.frame();
  drawSide();
}

function reading(work) {
  return inbox.during(() => attempt(work));
}

function linkState(words) {
  document.getElementById('link-state').textContent = words;
}

function start() {
  on('connected', () => {
    linkState('');
    reading(renew);
  });
  on('disconnected', () => linkState('Connection lost. Trying again…'));
  on('frame', (frame) => inbox.hear(frame));
  on('place', () => reading(show));
  on('acting', () => reading(restart));
  on('workspace', workspaceChanged);
  on('views', drawModal);
  document.addEventListener('visibilitychange', () => {
    panes.main?.pane.seen?.();
    panes.thread?.pane.seen();
    drawSide();
  });
  // A fault of the page itself is shown too: somebody has to be able to report it.
  addEventListener('unhandledrejection', (event) => notice(`The page made a mistake: ${event.reason}`));
  followInPlace();
  listenForPeople();
  connect();
}

start();
