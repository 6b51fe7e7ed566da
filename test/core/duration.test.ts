import { describe, expect, it } from 'vitest';
import { durationMs, durationSchema, writeDuration } from '../../src/model/duration.js';

describe('a duration', () => {
  it.each([
    ['0s', 0],
    ['500ms', 500],
    ['4s', 4000],
    ['1.001s', 1001],
    ['1.5h', 5_400_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
  ])('%s is %d ms', (text, expected) => {
    expect(durationMs(text)).toBe(expected);
  });

  it.each([
    '',
    '5',
    '-4s',
    '+4s',
    '4',
    '4 s',
    ' 4s',
    '4s ',
    '4S',
    'four seconds',
    '2 hours',
    '1y',
    '1w',
    '1e3ms',
    '.5s',
    `${'9'.repeat(200)}s`,
  ])('refuses %j', (text) => {
    expect(() => durationMs(text)).toThrow(RangeError);
  });

  it('says what would be right', () => {
    expect(() => durationMs('5')).toThrow('5 has no unit: write 5s, 5m or 5h');
    expect(() => durationMs('soon')).toThrow(
      '"soon" is not a duration: write a number and a unit, such as 500ms',
    );
    expect(() => durationMs('0.5ms')).toThrow('not a whole number of milliseconds');
    expect(() => durationMs('1s', { minMs: 2000 })).toThrow('1s is too short: expected at least 2s');
    expect(() => durationMs('2h', { maxMs: 3_600_000 })).toThrow('2h is too long: expected at most 1h');
  });

  it('is written in the largest exact unit, and reads back as it was', () => {
    const cases: [number, string][] = [
      [0, '0ms'],
      [999, '999ms'],
      [1500, '1500ms'],
      [90_000, '90s'],
      [3_600_000, '1h'],
      [172_800_000, '2d'],
    ];
    for (const [value, text] of cases) {
      expect(writeDuration(value)).toBe(text);
      expect(durationMs(text)).toBe(value);
    }
  });

  it('is kept as written by its schema', () => {
    expect(durationSchema.parse('1.5h')).toBe('1.5h');
    expect(durationSchema.safeParse(5).error?.issues[0]?.message).toBe('5 has no unit: write 5s, 5m or 5h');
  });
});
