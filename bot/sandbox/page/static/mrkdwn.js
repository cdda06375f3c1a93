// Slack's mrkdwn as nodes: fences, quotes, and the inline marks, links and mentions within them.

import { el } from './dom.js';
import { withEmoji } from './emoji.js';
import { channelMention, groupMention, link, rangeMention, userMention } from './mentions.js';
import { formatted } from './time.js';

const FENCE = /```\n?([\s\S]*?)\n?```/;
// A mark opens where no word is before it and closes where none is after it: snake_case and 2*3*4 stay as they are.
const INLINE = new RegExp([
  /`(?<code>[^`\n]+)`/,
  /(?<![\w*])\*(?=\S)(?<bold>[^*\n]*[^*\s])\*(?![\w*])/,
  /(?<!\w)_(?=\S)(?<italic>[^_\n]*[^_\s])_(?!\w)/,
  /(?<![\w~])~(?=\S)(?<strike>[^~\n]*[^~\s])~(?![\w~])/,
  /<(?<token>[^<>\n]+)>/,
].map((part) => part.source).join('|'), 'gu');

export function mrkdwn(text) {
  return text.split(FENCE).flatMap((piece, index) => {
    if (index % 2) return [el('pre', { tabindex: '0' }, el('code', {}, decoded(piece)))];
    const bare = piece.replace(/^\n|\n$/g, '');
    return bare ? paragraphs(bare.split('\n')) : [];
  });
}

function inline(text) {
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    nodes.push(...leaf(text.slice(at, found.index)), marked(found.groups));
    at = found.index + found[0].length;
  }
  return [...nodes, ...leaf(text.slice(at))];
}

function decoded(text) {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function paragraphs(lines) {
  const groups = [];
  for (const line of lines) {
    const quoted = line.startsWith('&gt;') || line.startsWith('>');
    if (groups.at(-1)?.quoted !== quoted) groups.push({ quoted, lines: [] });
    groups.at(-1).lines.push(quoted ? line.replace(/^(&gt;|>) ?/, '') : line);
  }
  return groups.map((group) => el(group.quoted ? 'blockquote' : 'p', {}, broken(group.lines)));
}

function broken(lines) {
  return lines.flatMap((line, index) => [...(index ? [el('br')] : []), ...inline(line)]);
}

function marked(groups) {
  if (groups.code !== undefined) return el('code', {}, decoded(groups.code));
  if (groups.bold !== undefined) return el('strong', {}, inline(groups.bold));
  if (groups.italic !== undefined) return el('em', {}, inline(groups.italic));
  if (groups.strike !== undefined) return el('s', {}, inline(groups.strike));
  return token(groups.token);
}

function token(inner) {
  const [target, label] = inner.split(/\|(.*)/s);
  if (target.startsWith('@')) return userMention(target.slice(1));
  if (target.startsWith('#')) return channelMention(target.slice(1));
  if (target.startsWith('!subteam^')) return groupMention(target.slice(9));
  if (target.startsWith('!date^')) return date(target, label);
  if (target.startsWith('!')) return rangeMention(target.slice(1));
  return link(decoded(target), label === undefined ? undefined : withEmoji(decoded(label)));
}

function date(target, fallback) {
  const [, seconds, format] = target.split('^');
  const at = Number(seconds);
  return Number.isFinite(at) && format ? formatted(at, decoded(format)) : decoded(fallback ?? target);
}

function leaf(text) {
  return text ? [withEmoji(decoded(text))] : [];
}
