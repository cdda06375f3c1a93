// An app's Home tab, as the app published it for the acting person.

import { act } from './api.js';
import { blocks } from './blocks.js';
import { el, keepingFocus } from './dom.js';
import { attempt, speak } from './notices.js';
import { state } from './state.js';
import { tabs } from './tabs.js';

export class HomePane {
  constructor(appId) {
    this.app = state.apps.get(appId);
    this.view = el('div', { class: 'home' });
    this.scroll = el('div', { class: 'scroll', role: 'region', 'aria-label': 'Home', tabindex: '0' }, this.view);
    this.node = el('div', { class: 'pane' },
      el('header', { class: 'pane-head' }, el('h1', {}, this.app.name), tabs(this.app, 'home')), this.scroll);
    this.draw();
  }

  // Tells the app that its Home tab was opened; it may publish anew, which arrives as a frame.
  async load() {
    await attempt(() => act('act/open_home', { user: state.me, app: this.app.id }));
  }

  draw() {
    const view = state.homes[this.app.id];
    const content = view
      ? blocks(view.blocks, { view_id: view.id })
      : el('p', { class: 'muted' }, `${this.app.name} has published nothing here yet.`);
    keepingFocus(this.scroll, () => this.view.replaceChildren(...[content].flat()));
  }

  renewed() {
    this.draw();
    speak(`${this.app.name} renewed its Home tab`);
  }
}
