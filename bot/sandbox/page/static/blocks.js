// Block Kit's blocks as nodes. `where` says what surface they are on, for the controls in them.

import { el, isThere } from './dom.js';
import { element, image } from './elements.js';
import { mrkdwn } from './mrkdwn.js';
import { richText } from './richtext.js';
import { plainText, textObject } from './textobject.js';

export function blocks(list, where) {
  return list.map((block) => (BLOCKS[block.type] ?? unsupported)(block, where));
}

const BLOCKS = {
  section, header, context, actions, divider,
  rich_text: (block) => el('div', { class: 'block prose' }, richText(block)),
  markdown: (block) => el('div', { class: 'block prose' }, mrkdwn(block.text)),
  image: (block, where) => el('div', { class: 'block' }, image(where, block, block)),
};

function section(block, where) {
  const text = block.text && el('div', { class: 'prose' }, textObject(block.text));
  const fields = block.fields?.length && el('div', { class: 'fields' },
    block.fields.map((field) => el('div', { class: 'prose' }, textObject(field))));
  return el('div', { class: 'block section' },
    el('div', { class: 'section-text' }, [text, fields].filter(isThere)),
    block.accessory && el('div', { class: 'accessory' }, element(where, block, block.accessory)));
}

// Slack's header is a large line, not a place in the page's outline: level 3 is under the pane that shows it.
function header(block) {
  return el('h3', { class: 'block header' }, plainText(block.text));
}

function context(block, where) {
  return el('div', { class: 'block context prose' }, block.elements.map((part) =>
    el('div', {}, part.type === 'image' ? image(where, block, part) : textObject(part))));
}

function actions(block, where) {
  return el('div', { class: 'block actions' }, block.elements.map((part) => element(where, block, part)));
}

function divider() {
  return el('hr', { class: 'block' });
}

function unsupported(block) {
  return el('p', { class: 'block unsupported' }, `(a block of type ${block.type} is not shown here)`);
}
