/** Formats durations and instants for the page. */

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * Formats a duration, for example "0.132 s", "4.2 s", "12 s", "3 min 5 s", "2 h 10 min" or "4 d 3 h". Never
 * rounds up.
 */
export function lengthText(lengthMs: number): string {
  const length = Math.max(0, lengthMs);
  if (length < secondMs) return `${(Math.floor(length) / secondMs).toFixed(3)} s`;
  if (length < 10 * secondMs) return `${(Math.floor(length / 100) / 10).toFixed(1)} s`;
  return wholeText(length);
}

/**
 * Formats a duration like `lengthText`, but in whole seconds. It is meant for durations that are still
 * growing.
 */
export function wholeText(lengthMs: number): string {
  const length = Math.max(0, lengthMs);
  if (length < minuteMs) return `${Math.floor(length / secondMs)} s`;
  if (length < hourMs) return two(length, minuteMs, 'min', secondMs, 's');
  if (length < dayMs) return two(length, hourMs, 'h', minuteMs, 'min');
  return two(length, dayMs, 'd', hourMs, 'h');
}

/**
 * Formats a duration that is measured against a limit, as in `petrel list`. Durations below ten minutes are
 * in seconds.
 */
export function countText(lengthMs: number): string {
  return lengthMs < 10 * minuteMs ? `${Math.floor(Math.max(0, lengthMs) / secondMs)} s` : wholeText(lengthMs);
}

function two(length: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((length % large) / small);
  return `${Math.floor(length / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

/** Formats an instant relative to `nowMs`, for example "3 min ago" or "in 2 h". */
export function agoText(instant: string, nowMs: number): string {
  const aheadMs = Date.parse(instant) - nowMs;
  if (aheadMs > 0) return `in ${wholeText(aheadMs)}`;
  return aheadMs > -secondMs ? 'just now' : `${wholeText(-aheadMs)} ago`;
}

/**
 * Formats an instant in the reader's own time zone, for example "14:03:22". The date precedes it if it
 * differs from that of `nowMs`.
 */
export function clockText(instant: string, nowMs: number): string {
  const at = new Date(instant);
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join(':');
  if (at.toDateString() === new Date(nowMs).toDateString()) return time;
  return `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())} ${time}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
