/** Formats durations and instants for the page. */

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** "0.132 s", "4.2 s", "12 s", "3 min 5 s", "2 h 10 min", "4 d 3 h": never rounded up. */
export function lengthText(lengthMs: number): string {
  const length = Math.max(0, lengthMs);
  if (length < secondMs) return `${(Math.floor(length) / secondMs).toFixed(3)} s`;
  if (length < 10 * secondMs) return `${(Math.floor(length / 100) / 10).toFixed(1)} s`;
  return wholeText(length);
}

/** Like `lengthText`, but in whole seconds, for durations that still run. */
export function wholeText(lengthMs: number): string {
  const length = Math.max(0, lengthMs);
  if (length < minuteMs) return `${Math.floor(length / secondMs)} s`;
  if (length < hourMs) return two(length, minuteMs, 'min', secondMs, 's');
  if (length < dayMs) return two(length, hourMs, 'h', minuteMs, 'min');
  return two(length, dayMs, 'd', hourMs, 'h');
}

/** Formats a duration that is measured against a limit, as in `petrel list`: in seconds up to ten minutes. */
export function countText(lengthMs: number): string {
  return lengthMs < 10 * minuteMs ? `${Math.floor(Math.max(0, lengthMs) / secondMs)} s` : wholeText(lengthMs);
}

function two(length: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((length % large) / small);
  return `${Math.floor(length / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

/** Formats an instant relative to `nowMs`: "3 min ago", "in 2 h". */
export function agoText(instant: string, nowMs: number): string {
  const aheadMs = Date.parse(instant) - nowMs;
  if (aheadMs > 0) return `in ${wholeText(aheadMs)}`;
  return aheadMs > -secondMs ? 'just now' : `${wholeText(-aheadMs)} ago`;
}

/** "14:03:22" in the reader's own time zone, preceded by the date if that is not the day of `nowMs`. */
export function clockText(instant: string, nowMs: number): string {
  const at = new Date(instant);
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join(':');
  if (at.toDateString() === new Date(nowMs).toDateString()) return time;
  return `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())} ${time}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
