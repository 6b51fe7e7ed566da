import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { plainMessage } from '../../src/model/plain-message.js';

describe('a message of the schema library, in plain words', () => {
  const sets = z.enum(['auto', 'manual']);
  it.each<[string, z.ZodType, unknown, string]>([
    ['nothing', z.array(z.string()), undefined, 'missing: expected a list'],
    ['a number for a string', z.string(), 1, 'expected a string, found a number: write it in quotes'],
    ['a string for a number', z.number(), 'x', 'expected a number, found a string'],
    ['a list for keys', z.object({}), [], 'expected keys with values, found a list'],
    ['null', z.boolean(), null, 'expected true or false, found null'],
    ['another choice', sets, 'never', 'expected one of "auto", "manual"'],
    ['another constant', z.literal('any'), 'all', 'expected "any"'],
    ['a short string', z.string().min(2), 'x', 'expected at least 2 characters'],
    ['an empty string', z.string().min(1), '', 'expected at least 1 character'],
    ['a long string', z.string().max(2), 'xyz', 'expected at most 2 characters'],
    ['a long list', z.array(z.string()).max(1), ['a', 'b'], 'expected at most 1 item'],
    ['a list of another length', z.array(z.string()).length(2), [], 'expected exactly 2 items'],
    ['a low number', z.number().min(3), 2, 'expected a number of at least 3'],
    ['a high number', z.number().lt(3), 3, 'expected a number of less than 3'],
    ['a fraction', z.int(), 1.5, 'expected a whole number, found a number'],
    ['an unknown key', z.strictObject({}), { a: 1 }, 'unknown "a"'],
    ['a time that is none', z.iso.datetime(), 'noon', 'expected a timestamp such as 2026-01-31T02:00:00Z'],
  ])('%s', (_, schema, value, right) => {
    const issues = schema.safeParse(value).error?.issues ?? [];
    expect(issues.map(({ message }) => plainMessage(message))).toEqual([right]);
  });

  it('leaves the messages of Petrel’s own schemas as they are', () => {
    const issues = z.string().min(1, 'expected a name').safeParse('').error?.issues ?? [];
    expect(issues.map(({ message }) => plainMessage(message))).toEqual(['expected a name']);
  });
});
