// Attachments and files: older dress for messages, still used by unfurls and by some programs.

import { blocks } from './blocks.js';
import { el } from './dom.js';
import { link } from './mentions.js';
import { mrkdwn } from './mrkdwn.js';

const NAMED = { good: '#2f7d4f', warning: '#b7791f', danger: '#b3261e' };

export function attachment(part, where) {
  const node = el('div', { class: 'attachment prose' },
    part.pretext && mrkdwn(part.pretext),
    part.author_name && el('p', { class: 'muted' }, part.author_name),
    part.title && el('p', { class: 'title' }, part.title_link ? link(part.title_link, part.title) : part.title),
    part.blocks ? blocks(part.blocks, where) : mrkdwn(part.text ?? part.fallback ?? ''),
    (part.fields ?? []).map((field) => el('div', {}, el('strong', {}, field.title), mrkdwn(String(field.value ?? '')))),
    part.footer && el('p', { class: 'muted' }, part.footer));
  const colour = NAMED[part.color] ?? (/^#?[0-9a-f]{6}$/i.test(part.color ?? '') ? `#${part.color.replace('#', '')}` : '');
  node.style.borderInlineStartColor = colour;
  return node;
}

export function file(part) {
  return el('p', { class: 'file' }, `📎 ${part.title ?? part.name}`);
}
