/** Arguments as people write them, checked before anything is tried. */
import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { durationMs } from '../core/duration.js';
import { nameSchema } from '../core/names.js';
import { errorMessage } from '../errors.js';

export function name(text: string): string {
  return checked(nameSchema, text);
}

/** For an option that takes several. */
export function names(text: string, before: string[] = []): string[] {
  return [...before, name(text)];
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It is a whole number, ${min} to ${max}.`);
  };
}

/** Milliseconds. */
export function duration(text: string): number {
  try {
    return durationMs(text, { minMs: 1 });
  } catch (error) {
    throw new InvalidArgumentError(`${errorMessage(error)}.`);
  }
}

/** A point in time: an instant with its zone, or a duration from now. Takes the time now, milliseconds since the epoch. */
export function pointInTime(text: string): (nowMs: number) => number {
  if (/^\d{4}-/.test(text)) {
    const atMs = Date.parse(text);
    if (/(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(atMs)) return () => atMs;
    throw new InvalidArgumentError(
      'An instant is written with its zone, like 2026-01-31T02:00:00Z or 2026-01-31T02:00:00+01:00.',
    );
  }
  try {
    const lengthMs = durationMs(text, { minMs: 1 });
    return (nowMs) => nowMs + lengthMs;
  } catch {
    throw new InvalidArgumentError(
      'It is an instant, like 2026-01-31T02:00:00Z, or how long from now, like 30m.',
    );
  }
}

function checked<T>(schema: z.ZodType<T>, text: string): T {
  const parsed = schema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(parsed.error.issues.map(({ message }) => message).join('; '));
}
