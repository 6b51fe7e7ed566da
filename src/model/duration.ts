/**
 * Durations in the form in which people write them: a number and a unit, such as `500ms`, `4s`, `1.5h` or
 * `2d`. The unit is required, because a bare number could be read in the wrong unit. A session timeout, for
 * example, could then be a thousand times too long.
 */
import ms, { type StringValue } from 'ms';
import * as z from 'zod';
import { cut, quoted } from './outside.js';

const written = /^\d{1,15}(?:\.\d{1,9})?(?:ms|s|m|h|d)$/;
const unitsLargestFirst = ['d', 'h', 'm', 's'] as const;
const longestMs = ms('365d');

export interface DurationLimits {
  readonly minMs?: number;
  readonly maxMs?: number;
}

const text = z.string({ error: (issue) => whatWouldBeRight(issue.input) });

/** Schema of a duration, which is kept as written. `durationMs` returns its length in milliseconds. */
export const durationSchema = durationWithin({});

/** Returns a schema for a duration within limits. */
export function durationWithin(limits: DurationLimits) {
  return text.superRefine((input, context) => {
    const read = readDuration(input, limits);
    if (typeof read !== 'number') context.addIssue({ code: 'custom', message: read.problem, input });
  });
}

/** Returns a schema that converts a written duration to milliseconds. */
export function durationInMs(limits: DurationLimits = {}) {
  return text.transform((input, context): number => {
    const read = readDuration(input, limits);
    if (typeof read === 'number') return read;
    context.addIssue({ code: 'custom', message: read.problem, input });
    return z.NEVER;
  });
}

/**
 * Returns a written duration in milliseconds. Throws a RangeError with a message that describes the expected
 * format or limit.
 */
export function durationMs(duration: string, limits: DurationLimits = {}): number {
  const read = readDuration(duration, limits);
  if (typeof read === 'number') return read;
  throw new RangeError(read.problem);
}

/**
 * Formats a length in the shortest form, rounded to its unit. For example, `1.5s` becomes `2s`, and 90,000 ms
 * becomes `2m`.
 */
export function formatDuration(lengthMs: number): string {
  return ms(Math.max(0, Math.round(lengthMs)));
}

/**
 * Formats a length without loss, in the largest unit that gives a whole number. For example, 90,000 ms
 * becomes `90s`.
 */
export function writeDuration(lengthMs: number): string {
  const whole = Math.round(lengthMs);
  const unit = unitsLargestFirst.find((candidate) => whole >= 1000 && whole % ms(`1${candidate}`) === 0);
  return unit === undefined ? `${whole}ms` : `${whole / ms(`1${unit}`)}${unit}`;
}

function readDuration(
  input: string,
  { minMs = 0, maxMs = longestMs }: DurationLimits,
): number | { problem: string } {
  if (!isWritten(input)) return { problem: whatWouldBeRight(input) };
  const exact = ms(input);
  const value = Math.round(exact);
  // Floating-point results are not exact: 1.001 * 1000 is 1000.9999999999999.
  if (Math.abs(exact - value) > 1e-6) return { problem: `${input} is not a whole number of milliseconds` };
  if (value < minMs) return { problem: `${input} is too short: expected at least ${writeDuration(minMs)}` };
  if (value > maxMs) return { problem: `${input} is too long: expected at most ${writeDuration(maxMs)}` };
  return value;
}

function isWritten(input: string): input is StringValue {
  return typeof input === 'string' && written.test(input);
}

function whatWouldBeRight(input: unknown): string {
  const number = cut(String(typeof input === 'string' || typeof input === 'number' ? input : ''));
  if (/^\d+(\.\d+)?$/.test(number))
    return `${number} has no unit: write ${number}s, ${number}m or ${number}h`;
  return `${quoted(input)} is not a duration: write a number and a unit, such as 500ms, 4s, 10m, 2h or 1d`;
}

/**
 * Returns `firstMs`, doubled `times - 1` times. The result is at most `longestMs`, but never less than
 * `firstMs`.
 */
export function doubledMs(firstMs: number, longestMs: number, times: number): number {
  return Math.min(Math.max(firstMs, longestMs), firstMs * 2 ** Math.min(Math.max(times - 1, 0), 40));
}
