/** Parses command-line arguments. This happens before a command does anything else. */
import { InvalidArgumentError } from 'commander';
import type * as z from 'zod';
import { errorMessage } from '../errors.js';
import { readPointInTime } from '../group/time.js';
import { durationMs } from '../model/duration.js';
import { nameSchema } from '../model/names.js';
import { plainMessage } from '../model/plain-message.js';

export function name(text: string): string {
  return checked(nameSchema, text);
}

/** Parses an option that may be repeated. */
export function names(text: string, before: string[] = []): string[] {
  return [...before, name(text)];
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

/** Parses a duration, and returns milliseconds. */
export function duration(text: string): number {
  try {
    return durationMs(text, { minMs: 1 });
  } catch (error) {
    throw new InvalidArgumentError(`${errorMessage(error)}.`);
  }
}

/** Parses a point in time, as `readPointInTime` does. */
export function pointInTime(text: string): (nowMs: number) => number {
  try {
    return readPointInTime(text);
  } catch (error) {
    throw new InvalidArgumentError(
      `${errorMessage(error)}.`.replace(/^[a-z]/, (letter) => letter.toUpperCase()),
    );
  }
}

function checked<T>(schema: z.ZodType<T>, text: string): T {
  const parsed = schema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(parsed.error.issues.map(({ message }) => plainMessage(message)).join('; '));
}
