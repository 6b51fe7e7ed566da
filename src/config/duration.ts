/**
 * Durations as people write them: a number and a unit, `500ms`, `4s`, `1.5h`, `2d`. Strict, because a bare number
 * read in the wrong unit is a session timeout a thousand times too long. Inside the code they are milliseconds.
 */
import ms, { type StringValue } from 'ms';
import { z } from 'zod';
import { PetrelError } from '../errors.js';

const written = /^\d{1,15}(?:\.\d{1,9})?(?:ms|s|m|h|d)$/;
const unitsLargestFirst = ['d', 'h', 'm', 's'] as const;

export interface DurationLimits {
  readonly minMs?: number;
  readonly maxMs?: number;
}

/** Schema from a written duration to milliseconds. */
export function duration({ minMs = 0, maxMs = ms('365d') }: DurationLimits = {}) {
  return z.unknown().transform((input, context): number => {
    const problem = (message: string): never => {
      context.addIssue({ code: 'custom', message, input });
      return z.NEVER;
    };
    if (!isWritten(input)) return problem(whatWouldBeRight(input));
    const exact = ms(input);
    const value = Math.round(exact);
    // 1.001 * 1000 is 1000.9999999999999.
    if (Math.abs(exact - value) > 1e-6) return problem(`${input} is not a whole number of milliseconds`);
    if (value < minMs) return problem(`${input} is too short: at least ${formatDuration(minMs)}`);
    if (value > maxMs) return problem(`${input} is too long: at most ${formatDuration(maxMs)}`);
    return value;
  });
}

/** Milliseconds of a written duration. Throws PetrelError INVALID. */
export function parseDuration(text: string, limits?: DurationLimits): number {
  const parsed = duration(limits).safeParse(text);
  if (parsed.success) return parsed.data;
  throw new PetrelError('INVALID', parsed.error.issues.map((issue) => issue.message).join('; '));
}

/** Written in the largest unit that keeps it exact: 90000 is 90s, not 2m. */
export function formatDuration(durationMs: number): string {
  const whole = Math.round(durationMs);
  const unit = unitsLargestFirst.find((candidate) => whole >= 1000 && whole % ms(`1${candidate}`) === 0);
  return unit === undefined ? `${whole}ms` : `${whole / ms(`1${unit}`)}${unit}`;
}

function isWritten(input: unknown): input is StringValue {
  return typeof input === 'string' && written.test(input);
}

function whatWouldBeRight(input: unknown): string {
  const shown = typeof input === 'string' ? `"${input}"` : String(JSON.stringify(input));
  if (/^"?\d+(\.\d+)?"?$/.test(shown)) {
    const number = shown.replaceAll('"', '');
    return `${number} has no unit: write ${number}s or ${number}ms`;
  }
  return `${shown} is not a duration: write a number and a unit, like 500ms, 4s, 10m, 2h or 1d`;
}
