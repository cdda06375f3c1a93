// Block Kit's text objects: mrkdwn, or plain text in which only emoji are special.

import { el } from './dom.js';
import { withEmoji } from './emoji.js';
import { mrkdwn } from './mrkdwn.js';

export function textObject(text) {
  return text.type === 'mrkdwn' ? mrkdwn(text.text) : [el('p', { class: 'plain' }, plainText(text))];
}

export function plainText(text) {
  return text.emoji === false ? text.text : withEmoji(text.text);
}
