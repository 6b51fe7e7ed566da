/** Lengths of time as people write them: `500ms`, `4s`, `10m`, `2h`, `1d`. */
import ms, { type StringValue } from 'ms';
import { z } from 'zod';

const rule = 'a length of time is a number and a unit, one of ms, s, m, h, d: 500ms, 4s, 10m, 2h, 1d';
const longestMs = ms('365d');

function isDuration(text: string): text is StringValue {
  return /^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text);
}

/** A duration kept as it was written; `durationMs` gives its length. */
export const durationSchema = z
  .string(rule)
  .refine(isDuration, rule)
  .refine((text) => !isDuration(text) || ms(text) <= longestMs, 'a length of time is at most 365d');

/** Milliseconds of a duration that was checked by `durationSchema`; throws a RangeError for any other text. */
export function durationMs(text: string): number {
  if (!isDuration(text)) throw new RangeError(`${JSON.stringify(text)}: ${rule}`);
  return ms(text);
}

/** The shortest way to write a length, rounded to its unit: `1.5s` is `2s`, 90,000 ms is `2m`. */
export function formatDuration(lengthMs: number): string {
  return ms(Math.max(0, Math.round(lengthMs)));
}
