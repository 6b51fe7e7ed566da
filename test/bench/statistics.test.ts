import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { median, quantile, Samples } from '../../bench/statistics.js';

const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 40 });

describe('a quantile', () => {
  it.each([
    [[3], 0.9, 3],
    [[1, 2], 0.5, 1.5],
    [[4, 1, 3, 2, 5], 0.5, 3],
    [[0, 10], 0.1, 1],
    [[1, 2, 3], 0, 1],
    [[1, 2, 3], 1, 3],
  ])('of %j at %d is %d', (of, share, expected) => {
    expect(quantile(of, share)).toBeCloseTo(expected, 12);
  });

  it('of nothing is none', () => {
    expect(median([])).toBeNaN();
  });

  it('lies among the values, grows with the share, and knows no order', () => {
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (of, share) => {
        const at = quantile(of, share);
        expect(at).toBeGreaterThanOrEqual(Math.min(...of) - 1e-6);
        expect(at).toBeLessThanOrEqual(Math.max(...of) + 1e-6);
        expect(quantile(of, share / 2)).toBeLessThanOrEqual(at + 1e-6);
        expect(quantile(of.toReversed(), share)).toBe(at);
      }),
    );
  });
});

describe('samples', () => {
  it('are kept apart by scenario, contender and measure, in the order of the contenders', () => {
    const samples = new Samples(['b', 'a']);
    samples.add('start', 'other', 'start', 7);
    samples.add('start', 'a', 'start', 1);
    samples.add('start', 'b', 'start', 5);
    samples.add('start', 'a', 'start', 3);
    samples.add('idle', 'a', 'start', 100);
    samples.add('start', 'a', 'gap', 100);
    expect(samples.contenders('start', 'start')).toEqual(['b', 'a', 'other']);
    expect(samples.spread('start', 'a', 'start')).toEqual({ count: 2, median: 2, low: 1.2, high: 2.8 });
    expect(samples.spread('start', 'c', 'start')).toBeNull();
  });
});
