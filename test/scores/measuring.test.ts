import { describe, expect, it } from 'vitest';
import { defaultTolerance, hasMoved, hasRoundTripMoved, readScore } from '../../src/scores/measuring.js';

describe('a score in text', () => {
  it.each([
    ['7', 7],
    [' -1.5\n', -1.5],
    ['+3', 3],
    ['.5', 0.5],
    ['5.', 5],
    ['1e3', 1000],
    ['0', 0],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', 9007199254740993n],
    ['+9007199254740993', 9007199254740993n],
    ['-9223372036854775808', -9223372036854775808n],
    ['18446744073709551615', 18446744073709551615n],
    ['9.2e18', 9.2e18],
  ])('is read, all 64 bits of it: %j', (text, value) => {
    expect(readScore(text)).toEqual({ value, problem: null });
  });

  it.each([
    ['', 'expected one number, found nothing'],
    ['\n', 'expected one number, found nothing'],
    ['fast', 'expected one number, found "fast"'],
    ['1 2', 'expected one number, found "1 2"'],
    ['1,5', 'expected one number, found "1,5"'],
    ['0x10', 'expected one number, found "0x10"'],
    ['NaN', 'expected one number, found "NaN"'],
    ['+Inf', 'expected one number, found "+Inf"'],
    ['Infinity', 'expected one number, found "Infinity"'],
    ['1e999', '"1e999" is too large'],
    ['18446744073709551616', '"18446744073709551616" has more than 64 bits'],
    ['9'.repeat(400), 'is too large'],
  ])('is refused with what is wrong: %j', (text, problem) => {
    expect(readScore(text)).toEqual({ value: null, problem: expect.stringContaining(problem) });
  });

  it('is refused in no time, however long it is', () => {
    const startedAtMs = performance.now();
    expect(readScore(`${'1'.repeat(300_000)}x`).problem).toContain('expected one number');
    expect(readScore(`${'1'.repeat(300_000)}.${'1'.repeat(300_000)}x`).problem).toContain(
      'expected one number',
    );
    expect(performance.now() - startedAtMs).toBeLessThan(2_000);
  });
});

describe('what has moved', () => {
  it('is what differs by more than a share of what was published', () => {
    expect(hasMoved(100, 105, '5%')).toBe(false);
    expect(hasMoved(100, 105.1, '5%')).toBe(true);
    expect(hasMoved(100, 94, '5%')).toBe(true);
    expect(hasMoved(-100, -104, '5%')).toBe(false);
    expect(hasMoved(0, 0, '5%')).toBe(false);
    expect(hasMoved(0, 0.001, '5%')).toBe(true);
  });

  it('is what differs by more than a number', () => {
    expect(hasMoved(1, 3, 2)).toBe(false);
    expect(hasMoved(1, 3.5, 2)).toBe(true);
    expect(hasMoved(5, 5, 0)).toBe(false);
  });

  it('is judged by all 64 bits', () => {
    const position = 2n ** 63n;
    expect(hasMoved(position, position + 1n, 0)).toBe(true);
    expect(hasMoved(position, position + 1n, 1)).toBe(false);
    expect(hasMoved(position, position, 0)).toBe(false);
    expect(hasMoved(9007199254740991, 9007199254740993n, 1)).toBe(true);
    expect(hasMoved(9007199254740993n, 0.5, '5%')).toBe(true);
  });

  it('is every step of a position in a log, unless a tolerance is set', () => {
    expect([defaultTolerance('history'), defaultTolerance('requests')]).toEqual([0, '5%']);
  });

  it('is of a round trip what is more than a tenth and a millisecond', () => {
    expect(hasRoundTripMoved(0.2, 1.1)).toBe(false);
    expect(hasRoundTripMoved(0.2, 1.3)).toBe(true);
    expect(hasRoundTripMoved(100, 109)).toBe(false);
    expect(hasRoundTripMoved(100, 89)).toBe(true);
  });
});
