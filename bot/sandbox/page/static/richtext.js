// The rich_text block: what Slack makes of what people type.

import { el } from './dom.js';
import { emoji } from './emoji.js';
import { channelMention, groupMention, link, rangeMention, userMention } from './mentions.js';

export function richText(block) {
  return block.elements.map((part) => (PARTS[part.type] ?? PARTS.rich_text_section)(part));
}

const PARTS = {
  rich_text_section: (part) => el('p', {}, runs(part)),
  rich_text_quote: (part) => el('blockquote', {}, runs(part)),
  rich_text_preformatted: (part) => el('pre', { tabindex: '0' }, el('code', {}, part.elements.map(plain))),
  rich_text_list: (part) =>
    el(part.style === 'ordered' ? 'ol' : 'ul', {}, part.elements.map((item) => el('li', {}, runs(item)))),
};

function runs(part) {
  return part.elements.flatMap((run) => (RUNS[run.type] ?? RUNS.text)(run));
}

const RUNS = {
  text: (run) => styled(run.style ?? {}, lines(run.text ?? '')),
  link: (run) => styled(run.style ?? {}, [link(run.url, run.text)]),
  user: (run) => userMention(run.user_id),
  usergroup: (run) => groupMention(run.usergroup_id),
  channel: (run) => channelMention(run.channel_id),
  broadcast: (run) => rangeMention(run.range),
  emoji: (run) => emoji(run.name),
};

const STYLES = [['code', 'code'], ['bold', 'strong'], ['italic', 'em'], ['strike', 's']];

function styled(style, nodes) {
  return STYLES.filter(([name]) => style[name]).reduce((inner, [, tag]) => [el(tag, {}, inner)], nodes);
}

function lines(text) {
  return text.split('\n').flatMap((line, index) => (index ? [el('br'), line] : [line]));
}

function plain(run) {
  return run.text ?? run.url ?? '';
}
