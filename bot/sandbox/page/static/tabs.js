// The two faces of an app: its messages and its Home tab.

import { el } from './dom.js';

export function tabs(app, current) {
  if (!app.has_home) return el('p', { class: 'muted' }, 'Messages with this app');
  const tab = (name, address, label) =>
    el('a', { href: address, 'aria-current': name === current ? 'page' : null, data: { key: `tab:${name}` } }, label);
  return el('nav', { class: 'tabs', 'aria-label': app.name },
    tab('messages', `/app/${app.id}`, 'Messages'), tab('home', `/app/${app.id}/home`, 'Home'));
}
