// Block Kit's interactive elements outside of forms: buttons and menus that tell the app at once.

import { el, icon } from './dom.js';
import { press } from './interact.js';
import { openMenu } from './menu.js';
import { plainText } from './textobject.js';

export function element(where, block, part) {
  const build = ELEMENTS[part.type];
  return build ? build(where, block, part) : el('span', { class: 'unsupported' }, `(${part.type} is not shown here)`);
}

const ELEMENTS = {
  button, overflow, image,
  static_select: select,
  radio_buttons: select,
};

function button(where, block, part) {
  const props = {
    class: `button ${part.style ?? ''}`, 'aria-label': part.accessibility_label, data: { key: keyOf(where, block, part) },
  };
  const pressed = (event) => press(where, block, part, event.currentTarget);
  const label = plainText(part.text);
  const address = part.url && URL.canParse(part.url) && /^https?:/.test(part.url) ? part.url : null;
  if (!address) return el('button', { type: 'button', onclick: pressed, ...props }, label);
  const outside = new URL(address).origin === location.origin ? {} : { target: '_blank', rel: 'noopener noreferrer' };
  return el('a', { href: address, onclick: pressed, ...outside, ...props }, label);
}

function overflow(where, block, part) {
  const open = (event) => {
    const anchor = event.currentTarget;
    openMenu(anchor, 'More actions', part.options.map((option) => ({
      label: plainText(option.text),
      run: () => press(where, block, part, anchor, { option: option.value }),
    })));
  };
  return el('button', {
    type: 'button', class: 'button overflow', 'aria-label': 'More actions', 'aria-haspopup': 'menu',
    'aria-expanded': 'false', onclick: open, data: { key: keyOf(where, block, part) },
  }, icon('more'));
}

function select(where, block, part) {
  const chosen = (event) => press(where, block, part, event.currentTarget, { option: event.currentTarget.value });
  const label = part.placeholder?.text ?? block.text?.text ?? 'Choose';
  return el('select', {
    class: 'select', 'aria-label': label, onchange: chosen, data: { key: keyOf(where, block, part) },
  }, options(part));
}

// The choices of a select: an empty one first unless something is chosen already.
export function options(part) {
  const all = part.options ?? (part.option_groups ?? []).flatMap((group) => group.options);
  const first = part.initial_option?.value;
  const empty = first ? null : el('option', { value: '' }, part.placeholder?.text ?? 'Choose…');
  return [empty, ...all.map((one) => el('option', { value: one.value, selected: one.value === first }, plainText(one.text)))]
    .filter(Boolean);
}

// Pictures are not fetched: nothing on this page comes from elsewhere.
export function image(_where, _block, part) {
  return el('span', { class: 'picture' }, `🖼 ${part.alt_text ?? 'image'}`);
}

function keyOf(where, block, part) {
  return [where.view_id ?? where.ts, block.block_id, part.action_id].join(':');
}
