// The fields of a modal. Each one knows its value, and can say what is wrong with it.

import { el, freshId } from './dom.js';
import { options } from './elements.js';
import { people, state } from './state.js';
import { plainText } from './textobject.js';

// Returns {node, key, blockId, value(), fault(), say(words), control} of an input block.
export function field(block, earlier) {
  const part = block.element;
  const key = `${block.block_id}:${part.action_id ?? ''}`;
  const ids = { control: freshId('field'), hint: freshId('hint'), fault: freshId('fault') };
  const build = CONTROLS[part.type] ?? text;
  const control = build(part, {
    id: ids.control, class: 'field-control', 'aria-describedby': block.hint ? `${ids.hint} ${ids.fault}` : ids.fault,
    'aria-required': block.optional ? null : 'true', data: { key },
  });
  const initial = earlier ?? initialValue(part);
  if (initial !== undefined) control.value = initial;
  const fault = el('p', { class: 'fault', id: ids.fault });
  const say = (words) => {
    fault.textContent = words;
    control.setAttribute('aria-invalid', String(words !== ''));
  };
  const node = el('div', { class: 'block field' },
    el('label', { for: ids.control }, plainText(block.label), block.optional && el('span', { class: 'muted' }, ' (optional)')),
    control, block.hint && el('p', { class: 'hint', id: ids.hint }, plainText(block.hint)), fault);
  return { node, key, blockId: block.block_id, control, say, value: () => control.value, fault: () => wrong(block, control.value) };
}

const CONTROLS = {
  plain_text_input: text,
  static_select: (part, props) => el('select', props, options(part)),
  radio_buttons: (part, props) => el('select', props, options(part)),
  users_select: (part, props) => picker(part, props, people().map((user) => [user.id, user.real_name])),
  conversations_select: (part, props) => picker(part, props, channels()),
  channels_select: (part, props) => picker(part, props, channels()),
};

const TYPES = { number_input: 'number', email_text_input: 'email', url_text_input: 'url' };

function text(part, props) {
  const more = { ...props, placeholder: part.placeholder?.text, maxlength: part.max_length };
  if (part.multiline) return el('textarea', { ...more, rows: '5' });
  return el('input', { ...more, type: TYPES[part.type] ?? 'text', autocomplete: 'off' });
}

function picker(part, props, choices) {
  return el('select', props, el('option', { value: '' }, part.placeholder?.text ?? 'Choose…'),
    choices.map(([value, name]) => el('option', { value }, name)));
}

function channels() {
  return [...state.channels.values()].filter((one) => one.kind !== 'im').map((one) => [one.id, `#${one.name}`]);
}

function initialValue(part) {
  return part.initial_value ?? part.initial_option?.value ?? part.initial_user ?? part.initial_conversation ?? part.initial_channel;
}

function wrong(block, value) {
  const least = block.element.min_length ?? 0;
  if (!value && !block.optional) return 'Please fill this in.';
  if (value && value.length < least) return `At least ${least} characters.`;
  return '';
}
