// Moments in the reader's own zone. A Slack ts is seconds, a dot, and a counter.

import { el } from './dom.js';

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const DAY = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' });

export function moment(ts) {
  return new Date(Number(ts) * 1000);
}

export function clock(ts) {
  const at = moment(ts);
  return el('time', { datetime: at.toISOString(), title: WHOLE.format(at) }, CLOCK.format(at));
}

export function dayName(ts) {
  const at = moment(ts);
  if (sameDay(at, new Date())) return 'Today';
  const yesterday = new Date();
  yesterday.setDate(yesterday.getDate() - 1);
  return sameDay(at, yesterday) ? 'Yesterday' : DAY.format(at);
}

export function isSameDay(one, other) {
  return sameDay(moment(one), moment(other));
}

// `<!date^…>` in mrkdwn: the parts that apps use, in the reader's zone.
export function formatted(seconds, format) {
  const at = new Date(seconds * 1000);
  const parts = {
    date: { dateStyle: 'long' }, date_short: { dateStyle: 'medium' }, date_long: { dateStyle: 'full' },
    date_num: { dateStyle: 'short' }, time: { timeStyle: 'short' }, time_secs: { timeStyle: 'medium' },
  };
  return format.replace(/\{(\w+?)(?:_pretty)?\}/g, (whole, name) =>
    parts[name] ? new Intl.DateTimeFormat(undefined, parts[name]).format(at) : whole);
}

function sameDay(one, other) {
  return one.toDateString() === other.toDateString();
}
