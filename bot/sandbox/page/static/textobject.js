// Block Kit's text objects: mrkdwn, or plain text in which only emoji are special.

import { el } from './dom.js';
import { withEmoji } from './emoji.js';
import { mrkdwn } from './mrkdwn.js';

// A bare address, or what is code or a link already and stays as it is.
const ADDRESS = /(?<kept>```[\s\S]*?```|`[^`\n]*`|<[^<>]*>)|https?:\/\/[^\s<>|`*]*[^\s<>|`*.,;:!?)\]'"]/g;

export function textObject(text) {
  if (text.type !== 'mrkdwn') return [el('p', { class: 'plain' }, plainText(text))];
  return mrkdwn(text.verbatim ? text.text : linked(text.text));
}

export function plainText(text) {
  return text.emoji === false ? text.text : withEmoji(text.text);
}

// Readers get addresses as links unless the app asked for its text verbatim.
function linked(text) {
  return text.replace(ADDRESS, (whole, kept) => (kept ? whole : `<${whole}>`));
}
