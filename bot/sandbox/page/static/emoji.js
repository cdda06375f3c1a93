// The emoji that people and bots use most, by the names that messages carry.

export const EMOJI = new Map(Object.entries({
  '+1': '👍', thumbsup: '👍', '-1': '👎', thumbsdown: '👎', eyes: '👀', white_check_mark: '✅', heavy_check_mark: '✔️',
  ballot_box_with_check: '☑️', x: '❌', no_entry: '⛔', no_entry_sign: '🚫', warning: '⚠️', rotating_light: '🚨',
  bell: '🔔', no_bell: '🔕', fire: '🔥', rocket: '🚀', tada: '🎉', heart: '❤️', pray: '🙏', clap: '👏', wave: '👋',
  raised_hands: '🙌', raising_hand: '🙋', ok_hand: '👌', muscle: '💪', point_right: '👉', point_up: '☝️',
  slightly_smiling_face: '🙂', smile: '😄', grinning: '😀', joy: '😂', wink: '😉', thinking_face: '🤔', cry: '😢',
  sob: '😭', sweat_smile: '😅', neutral_face: '😐', robot_face: '🤖', see_no_evil: '🙈', shrug: '🤷',
  hourglass: '⌛', hourglass_flowing_sand: '⏳', alarm_clock: '⏰', stopwatch: '⏱️', clock1: '🕐', calendar: '📆',
  zzz: '💤', mute: '🔇', speech_balloon: '💬', memo: '📝', pencil: '📝', pencil2: '✏️', clipboard: '📋', pushpin: '📌',
  link: '🔗', lock: '🔒', unlock: '🔓', key: '🔑', mag: '🔍', bulb: '💡', gear: '⚙️', wrench: '🔧', hammer: '🔨',
  bug: '🐛', package: '📦', email: '📧', envelope: '✉️', incoming_envelope: '📨', inbox_tray: '📥', outbox_tray: '📤',
  chart_with_upwards_trend: '📈', chart_with_downwards_trend: '📉', bar_chart: '📊', star: '⭐', sparkles: '✨',
  question: '❓', grey_question: '❔', exclamation: '❗', bangbang: '‼️', information_source: 'ℹ️', sos: '🆘',
  red_circle: '🔴', large_red_circle: '🔴', large_orange_circle: '🟠', large_yellow_circle: '🟡',
  large_green_circle: '🟢', large_blue_circle: '🔵', white_circle: '⚪', black_circle: '⚫', arrow_right: '➡️',
  arrow_left: '⬅️', arrow_up: '⬆️', arrow_down: '⬇️', leftwards_arrow_with_hook: '↩️',
  arrow_right_hook: '↪️', repeat: '🔁', arrows_counterclockwise: '🔄', recycle: '♻️', double_vertical_bar: '⏸️',
  arrow_forward: '▶️', black_square_for_stop: '⏹️', fast_forward: '⏩', heavy_plus_sign: '➕', heavy_minus_sign: '➖',
  one: '1️⃣', two: '2️⃣', three: '3️⃣', four: '4️⃣', five: '5️⃣', '100': '💯', coffee: '☕', seedling: '🌱', beers: '🍻',
  ghost: '👻', skull: '💀', handshake: '🤝', crossed_fingers: '🤞', checkered_flag: '🏁', triangular_flag_on_post: '🚩',
}));

export const PICKED = ['+1', 'eyes', 'white_check_mark', 'tada', 'heart', 'pray', 'rocket', 'fire', 'thinking_face',
  'raising_hand', 'x', 'warning', 'hourglass_flowing_sand', 'wave', 'joy', '100'];

// A name that is not in the table stays readable as what it is.
export function emoji(name) {
  return EMOJI.get(name.replace(/::skin-tone-\d$/, '')) ?? `:${name}:`;
}

export function withEmoji(text) {
  return text.replace(/:([a-z0-9_+'-]+(?:::skin-tone-\d)?):/g, (_, name) => emoji(name));
}
