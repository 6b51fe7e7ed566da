/** Names of nodes and sites, and the instants that znodes store. */
import * as z from 'zod';
import { cut, depthProblem, firstOf } from './outside.js';
import { plainMessage } from './plain-message.js';

const pattern = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const rule =
  'expected a name of 1 to 128 letters, digits, dots, hyphens or underscores that starts and ends with a letter or digit';

/**
 * Returns a schema for an object with exactly these fields. If a field is unknown, the error lists the known
 * fields.
 */
export function strictObject<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return undefined;
      const unknown = firstOf(issue.keys.map((key) => `\`${cut(key)}\``)).join(', ');
      const known = Object.keys(shape);
      return `unknown ${unknown}; ${known.length === 0 ? 'no keys are allowed here' : `expected one of ${known.join(', ')}`}`;
    },
  });
}

/**
 * A node id or a site name. It becomes part of a znode's name, so it contains neither a slash nor a space.
 */
export const nameSchema = z.string().max(128, rule).regex(pattern, rule);

/**
 * Schema of an instant in ISO 8601 format, in UTC. Instants are on the ensemble's clock unless stated
 * otherwise.
 */
export const instantSchema = z.iso.datetime();

export function toInstant(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Formats an instant for people, without its milliseconds. */
export function toWholeSecond(instant: string): string {
  return instant.replace(/\.\d+Z$/, 'Z');
}

export function fromInstant(instant: string): number {
  return Date.parse(instant);
}

/** A 64-bit number in JSON, as a string of decimal digits. */
export const longSchema = z.string().refine(isLong, 'expected a 64-bit whole number, in a string');

export function isLong(text: string): boolean {
  if (!/^-?\d{1,20}$/.test(text)) return false;
  const value = BigInt(text);
  return value >= -(2n ** 63n) && value < 2n ** 64n;
}

export type Parsed<T> = { readonly value: T; readonly problem: null } | Unreadable;
export interface Unreadable {
  readonly value: null;
  /** What is wrong with the content, as one line of text. */
  readonly problem: string;
}

/** Parses JSON and validates it against a schema. Never throws. */
export function parseJson<T>(schema: z.ZodType<T>, text: string): Parsed<T> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { value: null, problem: text === '' ? 'empty content' : 'invalid JSON' };
  }
  const tooDeep = depthProblem(json);
  if (tooDeep !== null) return { value: null, problem: tooDeep };
  const result = schema.safeParse(json);
  if (result.success) return { value: result.data, problem: null };
  return { value: null, problem: describeIssues(result.error).join('; ') };
}

/**
 * Returns one line per issue. Each line says where the issue is, what is wrong, and what is expected. If
 * there are very many issues, lists only the first ones.
 */
export function describeIssues(error: z.ZodError): string[] {
  const lines = error.issues.map((issue) => {
    const where = issue.path.map((key) => cut(String(key))).join('.');
    const what =
      issue.code === 'invalid_key'
        ? issue.issues.map(({ message }) => plainMessage(message)).join(', ')
        : plainMessage(issue.message);
    return where === '' ? what : `${where}: ${what}`;
  });
  return firstOf(lines);
}

/** Maximum length of human-readable text in a znode. */
const longestText = 2000;

/** Shortens text so that people can read it and a write does not become too large. */
export function brief(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}

/**
 * Returns JSON in which long strings are truncated. A message thrown by a user's own code must not make a
 * write too large.
 */
export function encodedText(content: unknown): string {
  return JSON.stringify(content, (_key, value: unknown) =>
    typeof value === 'string' ? brief(value) : value,
  );
}
