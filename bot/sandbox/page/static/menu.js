// A small menu beside the control that opened it. Arrow keys move, Escape and a click elsewhere close it.

import { bookmark, el } from './dom.js';

const MARGIN = 8;

// `items`: {label, run, danger?, glyph?}. With `glyph` the menu is a grid of pictures named by their labels.
export function openMenu(anchor, label, items) {
  const back = bookmark();
  const grid = items.some((item) => item.glyph);
  const menu = el('div', { class: grid ? 'menu grid' : 'menu', role: 'menu', 'aria-label': label, popover: 'auto' });
  menu.append(...items.map((item) => choice(item, () => menu.hidePopover())));
  menu.addEventListener('keydown', (event) => moveWithin(menu, event, grid));
  menu.addEventListener('toggle', (event) => {
    if (event.newState !== 'closed') return;
    const hadFocus = menu.contains(document.activeElement) || document.activeElement === document.body;
    menu.remove();
    anchor.setAttribute('aria-expanded', 'false');
    if (hadFocus) back();
  });
  // A menu outside an open dialog would be inert.
  (anchor.closest('dialog') ?? document.body).append(menu);
  menu.showPopover();
  anchor.setAttribute('aria-expanded', 'true');
  place(menu, anchor.getBoundingClientRect());
  menu.firstElementChild.focus();
}

function choice(item, close) {
  const chosen = () => {
    close();
    item.run();
  };
  return el('button', {
    type: 'button', role: 'menuitem', tabindex: '-1', class: item.danger ? 'danger' : '', onclick: chosen,
    'aria-label': item.glyph ? item.label : null, title: item.glyph ? item.label : null,
  }, item.glyph ?? item.label);
}

function moveWithin(menu, event, grid) {
  const items = [...menu.children];
  const at = items.indexOf(document.activeElement);
  const row = grid ? 8 : 1;
  const steps = { ArrowDown: row, ArrowUp: -row, ...(grid ? { ArrowRight: 1, ArrowLeft: -1 } : {}) };
  const ends = { Home: 0, End: items.length - 1 };
  if (event.key === 'Tab') menu.hidePopover();
  const to = event.key in ends ? ends[event.key] : at + (steps[event.key] ?? 0);
  if (to === at) return;
  event.preventDefault();
  items[(to + items.length) % items.length].focus();
}

function place(menu, anchor) {
  const size = menu.getBoundingClientRect();
  const below = anchor.bottom + 4 + size.height < innerHeight;
  const top = below ? anchor.bottom + 4 : Math.max(MARGIN, anchor.top - size.height - 4);
  const left = Math.max(MARGIN, Math.min(anchor.right - size.width, innerWidth - size.width - MARGIN));
  menu.style.top = `${top}px`;
  menu.style.left = `${left}px`;
}
