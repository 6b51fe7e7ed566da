import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  answeredLate,
  measured,
  mostMissed,
  noRoundTrips,
  type RoundTrips,
  unanswered,
} from '../../src/probe/round-trips.js';
import { holds } from '../support/properties.js';

function measuring(measurements: readonly number[], begin: RoundTrips = noRoundTrips): RoundTrips {
  return measurements.reduce(measured, begin);
}

function repeated(ms: number, times: number): number[] {
  return Array.from({ length: times }, () => ms);
}

describe('round trips', () => {
  it('say nothing before the third', () => {
    expect(measuring([10, 11]).mean).toBeNull();
    expect(measuring([10, 11, 12]).mean?.ms).toBe(11);
  });

  it('begin with the middle of three, so that the first may be slow', () => {
    expect(measuring([900, 10, 10.5]).mean?.ms).toBe(10.5);
  });

  it('are smoothed', () => {
    const { mean } = measuring([10, 10, 10, 10.8]);
    expect(mean?.ms).toBeCloseTo(10.1);
    expect(mean?.deviationMs).toBeCloseTo(0.2);
  });

  it('are not moved by one or two that do not fit', () => {
    const steady = measuring(repeated(10, 20));
    expect(measuring([500], steady).mean).toEqual(steady.mean);
    expect(measuring([500, 400], steady).mean).toEqual(steady.mean);
    expect(measuring([500, 10, 500, 10, 500, 10], steady).mean?.ms).toBeCloseTo(10);
  });

  it('begin again with the third in a row that does not fit, longer or shorter', () => {
    const steady = measuring(repeated(100, 20));
    expect(measuring([300, 302, 301], steady).mean?.ms).toBe(301);
    expect(measuring([20, 21, 22], steady).mean?.ms).toBe(21);
  });

  it('take a jittery network as it is', () => {
    const measurements = Array.from({ length: 200 }, (_, index) => [18, 20, 22, 30][index % 4] ?? 0);
    const { mean } = measuring(measurements);
    expect(mean?.ms).toBeGreaterThan(19);
    expect(mean?.ms).toBeLessThan(26);
  });

  it('are forgotten when enough probes in a row were not answered, and begin again', () => {
    let known = measuring(repeated(10, 5));
    for (let missed = 1; missed < mostMissed; missed++) known = unanswered(known);
    expect(known.mean?.ms).toBe(10);
    known = unanswered(known);
    expect(known.mean).toBeNull();
    expect(measuring([50, 50], known).mean).toBeNull();
    expect(measuring([50, 50, 50], known).mean?.ms).toBe(50);
  });

  it('do not count what was missed before an answer', () => {
    let known = measuring(repeated(10, 5));
    for (let round = 0; round < 10; round++) {
      for (let missed = 1; missed < mostMissed; missed++) known = unanswered(known);
      known = measured(known, 10);
    }
    expect(known.mean?.ms).toBeCloseTo(10);
  });

  it('are not moved by answers that measure nothing, and forgotten when there are no others', () => {
    const steady = measuring(repeated(10, 5));
    let known = steady;
    for (let times = 1; times < 60; times++) known = answeredLate(unanswered(known));
    expect(known.mean).toEqual(steady.mean);
    expect(answeredLate(measured(known, 10)).mean?.ms).toBe(10);
    expect(answeredLate(known).mean).toBeNull();
  });

  it('never give a mean outside of what was measured', async () => {
    const ms = fc.double({ min: 0, max: 100_000, noNaN: true });
    await holds(
      fc.property(fc.array(ms, { minLength: 3, maxLength: 60 }), (measurements) => {
        const { mean } = measuring(measurements);
        if (mean === null) throw new Error('three measurements, and no mean');
        expect(mean.ms).toBeGreaterThanOrEqual(Math.min(...measurements) - 1e-6);
        expect(mean.ms).toBeLessThanOrEqual(Math.max(...measurements) + 1e-6);
      }),
    );
  });
});
