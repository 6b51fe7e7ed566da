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
 * given in seconds.
 */
export function countText(lengthMs: number): string {
  return lengthMs < 10 * minuteMs ? `${Math.floor(Math.max(0, lengthMs) / secondMs)} s` : wholeText(lengthMs);
}

function two(length: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((length % large) / small);
  return `${Math.floor(length / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

/**
 * Formats an instant relative to `nowMs`, for example "3 min ago" or "in 2 h". A future time is rounded to
 * the nearest unit shown. The end of a two-hour override is therefore first shown as "in 2 h".
 */
export function agoText(instant: string, nowMs: number): string {
  const aheadMs = Date.parse(instant) - nowMs;
  if (aheadMs > 0) return `in ${wholeText(nearest(aheadMs))}`;
  return aheadMs > -secondMs ? 'just now' : `${wholeText(-aheadMs)} ago`;
}

function nearest(lengthMs: number): number {
  const unitMs = lengthMs < hourMs - secondMs ? secondMs : lengthMs < dayMs - minuteMs ? minuteMs : hourMs;
  return Math.round(lengthMs / unitMs) * unitMs;
}

/** Formats an instant with its relative time first, for example "in 2 h, 14:10 UTC+1". */
export function whenText(instant: string, nowMs: number): string {
  return `${agoText(instant, nowMs)}, ${minuteText(instant, nowMs)}`;
}

/**
 * Formats an instant in the reader's own time zone, for example "14:03:22 UTC+1". If the date differs from
 * the date of `nowMs`, the text begins with the date.
 */
export function clockText(instant: string, nowMs: number): string {
  return localText(instant, nowMs, (at) => [at.getHours(), at.getMinutes(), at.getSeconds()]);
}

function minuteText(instant: string, nowMs: number): string {
  return localText(instant, nowMs, (at) => [at.getHours(), at.getMinutes()]);
}

function localText(instant: string, nowMs: number, timeOf: (at: Date) => number[]): string {
  const at = new Date(instant);
  const time = `${timeOf(at).map(twoDigits).join(':')} ${zoneText(-at.getTimezoneOffset())}`;
  if (at.toDateString() === new Date(nowMs).toDateString()) return time;
  return `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())} ${time}`;
}

/**
 * Formats a time zone as "UTC", "UTC+1" or "UTC-3:30". Names such as "CST" are not used, because they are
 * ambiguous.
 */
export function zoneText(offsetMinutes: number): string {
  if (offsetMinutes === 0) return 'UTC';
  const [hours, minutes] = [Math.floor(Math.abs(offsetMinutes) / 60), Math.abs(offsetMinutes) % 60];
  return `UTC${offsetMinutes < 0 ? '-' : '+'}${hours}${minutes === 0 ? '' : `:${twoDigits(minutes)}`}`;
}

const timestamp = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Replaces each timestamp in a sentence, for example with "14:10 UTC+1 (in 2 h)". */
export function localTimes(sentence: string, nowMs: number): string {
  return sentence.replaceAll(timestamp, (instant) =>
    Number.isNaN(Date.parse(instant))
      ? instant
      : `${minuteText(instant, nowMs)} (${agoText(instant, nowMs)})`,
  );
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
