/** The conditions under which a node with better scores replaces the leader. */
import { describe, expect, it } from 'vitest';
import { betterForMs, updatedBetterSince } from '../../src/core/stabilization.js';
import { type Chance, chance } from '../support/chance.js';
import { Bench } from './bench.js';
import { members } from './builders.js';
import { normal } from './normal.js';

const nodes = ['a1', 'b1', 'c1', 'd1', 'e1'];
const second = 1000;
const minute = 60 * second;

type Settings = ConstructorParameters<typeof Bench>[1];

/** Returns a group that b1 leads. Every node reports 100. */
function led(settings: Settings = {}, rates: Record<string, number> = {}): Bench {
  const bench = new Bench(['a1', 'b1', 'c1'], { strategy: 'request', ...settings });
  for (const node of ['a1', 'b1', 'c1']) bench.measure(node, { requests: node === 'b1' ? 100 : 50 });
  bench.lead();
  expect(bench.node).toBe('b1');
  for (const node of ['a1', 'b1', 'c1']) bench.measure(node, { requests: rates[node] ?? 100 });
  bench.settle();
  return bench;
}

describe('a leader that another measures better than', () => {
  it('is left once the other has been better for the hold, and not a moment before', () => {
    const bench = led({}, { c1: 200 });
    bench.advance(minute - 1);
    expect(bench.node).toBe('b1');
    bench.advance(1);
    expect(bench.node).toBe('c1');
    expect(bench.elected.value?.cause).toBe('preference');
    expect(bench.reason).toBe('better than b1: requests = 200');
  });

  it('is looked at again every 10 s, also while nobody is better', () => {
    expect(led().round().recheckInMs).toBe(10 * second);
    expect(led({ stabilization: { interval: '3s' } }).round().recheckInMs).toBe(3 * second);
    expect(new Bench(['a1'], { strategy: 'oldest' }).round().recheckInMs).toBeNull();
  });

  it('says how long it will still lead', () => {
    const bench = led({}, { c1: 200 });
    bench.advance(20 * second);
    expect(bench.round().choice?.reason).toBe(
      'requests = 100; c1 would be better (requests = 200), and takes over in 40s if it stays better',
    );
  });

  it('is kept when the other was not better for one look in between', () => {
    const bench = led({}, { c1: 200 });
    bench.advance(50 * second);
    bench.measure('c1', { requests: 110 });
    bench.advance(10 * second);
    bench.measure('c1', { requests: 200 });
    bench.advance(minute - 1);
    expect(bench.node).toBe('b1');
    bench.advance(1);
    expect(bench.node).toBe('c1');
  });

  it('is kept when the other is better by less than the margin, however long', () => {
    const bench = led({}, { c1: 119 });
    bench.advance(60 * minute);
    expect(bench.node).toBe('b1');
    bench.measure('c1', { requests: 120 });
    bench.advance(2 * minute);
    expect(bench.node).toBe('c1');
  });

  it.each([
    ['20%', 119, 120],
    ['50 %', 149, 150],
    [7, 106, 107],
    [0, 100, 101],
  ])('with a margin of %s is kept at %d and left at %d', (margin, kept, left) => {
    const settings = { strategyOptions: { margin } };
    const leaderNextTo = (rate: number) => {
      const bench = led(settings, { c1: rate });
      bench.advance(2 * minute);
      return bench.node;
    };
    expect([leaderNextTo(kept), leaderNextTo(left)]).toEqual(['b1', 'c1']);
  });

  it.each([
    ['auto', '1m', minute],
    ['after:10m', '1m', 10 * minute],
    ['after:10s', '1m', minute],
    ['auto', '10m', 10 * minute],
  ])('with failback %s and a hold of %s is left after %d ms', (failback, hold, lengthMs) => {
    const bench = led({ failback, stabilization: { window: hold } }, { c1: 200 });
    bench.advance(lengthMs - 1);
    expect(bench.node).toBe('b1');
    bench.advance(1);
    expect(bench.node).toBe('c1');
  });

  it('is left only when the other was better for all of after:…, however long it was eligible', () => {
    const bench = led({ failback: 'after:10m' });
    bench.advance(30 * minute);
    bench.measure('c1', { requests: 200 });
    bench.settle();
    bench.advance(10 * minute - 1);
    expect(bench.node).toBe('b1');
    bench.advance(1);
    expect(bench.node).toBe('c1');
  });

  it('with failback manual is never left by itself', () => {
    const bench = led({ failback: 'manual' }, { c1: 200 });
    bench.advance(2 * 60 * minute);
    expect(bench.node).toBe('b1');
  });

  it('is not left before its minimum leadership is over', () => {
    const bench = led({ minLeadership: '1h' }, { c1: 200 });
    bench.advance(60 * minute - 1);
    expect(bench.node).toBe('b1');
    bench.advance(1);
    expect(bench.node).toBe('c1');
  });

  it('stays where a person put it', () => {
    const bench = led({}, { c1: 200 });
    const { value } = bench.elected;
    if (value === null) throw new Error('nobody decided');
    bench.elected = { ...bench.elected, value: { ...value, requested: { by: 'ops', overridden: [] } } };
    bench.advance(60 * minute);
    expect(bench.node).toBe('b1');
  });

  it('is not left at once where its priority fell: a score has nothing to do with it', () => {
    const bench = led({}, { c1: 200 });
    bench.updateRegistration('b1', { priority: 1 });
    bench.advance(minute - 1);
    expect(bench.node).toBe('b1');
  });

  it('is compared again with every incarnation of the other, and of its own', () => {
    const reported = (bench: Bench) => {
      for (const node of ['a1', 'b1', 'c1']) bench.measure(node, { requests: node === 'c1' ? 200 : 100 });
    };
    const other = led({}, { c1: 200 });
    other.advance(50 * second);
    other.renew('c1');
    reported(other);
    other.advance(minute - 1);
    expect(other.node).toBe('b1');
    other.advance(1);
    expect(other.node).toBe('c1');
  });

  it('is compared again by an elector that has not looked for more than a minute', () => {
    const bench = led({}, { c1: 200 });
    bench.advance(50 * second);
    bench.nowMs += 61 * second;
    bench.settle();
    bench.advance(minute - 1);
    expect(bench.node).toBe('b1');
    bench.advance(1);
    expect(bench.node).toBe('c1');
  });

  it('is compared only once the strategy compares scores', () => {
    const bench = led({}, { a1: 200 });
    bench.configure({ strategy: 'oldest', failback: 'manual' });
    for (const _ of [1, 2, 3, 4]) {
      bench.settle();
      bench.nowMs += 30 * second;
    }
    bench.configure({ strategy: 'request' });
    bench.advance(minute - 1);
    expect(bench.node).toBe('b1');
    bench.advance(1);
    expect(bench.node).toBe('a1');
  });

  it('is compared again when another leads', () => {
    const bench = led({}, { a1: 150, c1: 250 });
    bench.advance(30 * second);
    bench.crash('b1');
    bench.measure('c1', { requests: 100 });
    bench.lead();
    expect(bench.node).toBe('a1');
    bench.measure('c1', { requests: 250 });
    bench.settle();
    bench.advance(minute - 1);
    expect(bench.node).toBe('a1');
    bench.advance(1);
    expect(bench.node).toBe('c1');
  });
});

describe('since when another has been better', () => {
  const group = members('a1', 'b1', 'c1');
  const ranking = (better: string, present: string) => [
    { node: better, grade: 0, reason: 'better' },
    { node: present, grade: 1, reason: 'present' },
  ];
  const seen = (elected: string, nowMs: number) => ({ members: group, elected, nowMs });
  const since0 = () => updatedBetterSince(seen('b1', 0), ranking('a1', 'b1'), null);

  it('is kept while the same node leads', () => {
    expect(betterForMs(seen('b1', 50), 'a1', since0())).toBe(50);
    const later = updatedBetterSince(seen('b1', 50), ranking('a1', 'b1'), since0());
    expect(betterForMs(seen('b1', 70), 'a1', later)).toBe(70);
    expect(betterForMs(seen('b1', 70), 'c1', later)).toBe(0);
  });

  it('counts for no other leader, neither at once nor later', () => {
    expect(betterForMs(seen('c1', 50), 'a1', since0())).toBe(0);
    const other = updatedBetterSince(seen('c1', 50), ranking('a1', 'c1'), since0());
    expect(betterForMs(seen('c1', 70), 'a1', other)).toBe(20);
  });

  it('is forgotten when the leader is no longer registered', () => {
    const without = { ...seen('b1', 50), members: members('a1') };
    expect(updatedBetterSince(without, ranking('a1', 'b1'), since0())).toBeNull();
  });

  it('is forgotten when nobody fit leads', () => {
    expect(
      updatedBetterSince(seen('b1', 50), [{ node: 'a1', grade: 0, reason: 'alone' }], since0()),
    ).toBeNull();
  });
});

/** Makes all nodes report equal scores with uniform noise of 20 %. c1 is better by the factor `gain`. */
type Noise = (bench: Bench, draw: Chance, gain: number) => void;

const noisyRates: Noise = (bench, { between }, gain) => {
  for (const node of nodes) {
    bench.measure(node, { requests: 100 * between(0.8, 1.2) * (node === 'c1' ? gain : 1) });
  }
};
const noisyTrips: Noise = (bench, { between }, gain) => {
  for (const node of nodes) {
    const others = nodes.filter((other) => other !== node);
    const tripMs = () => (40 * between(0.8, 1.2)) / (node === 'c1' ? gain : 1);
    bench.measure(
      node,
      { requests: 1, history: 5 },
      Object.fromEntries(others.map((one) => [one, tripMs()])),
    );
  }
};
const pole = { scores: [{ score: 'latency', width: 10 }, { score: 'history' }] };
const seeds = Array.from({ length: 4 }, (_, index) => index + 1);

describe.each<[string, Record<string, unknown>, Noise]>([
  ['request', {}, noisyRates],
  ['consensus', {}, noisyTrips],
  ['latency', {}, noisyTrips],
  ['latency', { width: 10 }, noisyTrips],
  ['worst-case', {}, noisyTrips],
  ['pole', pole, noisyTrips],
])('an hour under %s %j with uniform noise of a fifth', (strategy, strategyOptions, noise) => {
  /**
   * Returns the number of times that leadership moves in each half of an hour. c1 has the gain in the second
   * half only.
   */
  function hour(
    seed: number,
    gain: number,
    settings: Settings = { strategyOptions },
  ): { before: number; after: number; node: string | null } {
    const draw = chance(seed);
    const bench = new Bench(nodes, { strategy, ...settings });
    noise(bench, draw, 0.5);
    bench.lead();
    const moves = { before: 0, after: 0 };
    for (let atMs = 0; atMs < 60 * minute; atMs += 10 * second) {
      const half = atMs < 30 * minute ? 'before' : 'after';
      bench.nowMs += 10 * second;
      noise(bench, draw, half === 'before' ? 1 : gain);
      if (bench.handOver()) moves[half] += 1;
    }
    return { ...moves, node: bench.node };
  }

  it('moves nothing', () => {
    const hours = seeds.map((seed) => hour(seed, 1));
    expect(hours.map(({ before, after }) => before + after)).toEqual(seeds.map(() => 0));
  });

  it('would move it again and again without a margin and a hold', () => {
    const { before, after } = hour(1, 1, {
      strategyOptions: { ...strategyOptions, margin: 0 },
      stabilization: { window: '0s' },
      failbackHold: '0s',
    });
    expect(before + after).toBeGreaterThan(10);
  });

  it('moves once, and to the right node, where one becomes three times better', () => {
    const right = { before: 0, after: 1, node: 'c1' };
    expect(seeds.map((seed) => hour(seed, 3))).toEqual(seeds.map(() => right));
  });
});

// Normal noise has no bound. `noise.test.ts` counts how often it moves leadership.
it('an hour under request with normal noise of a fifth moves leadership once at most', () => {
  const moves = Array.from({ length: 6 }, (_, seed) => {
    const draw = chance(seed + 1);
    const bench = new Bench(nodes, { strategy: 'request' });
    const report = () => {
      for (const node of nodes) bench.measure(node, { requests: 100 * Math.max(0, 1 + 0.2 * normal(draw)) });
    };
    report();
    bench.lead();
    return Array.from({ length: 360 }, () => {
      bench.nowMs += 10 * second;
      report();
      return bench.handOver();
    }).filter(Boolean).length;
  });
  expect(Math.max(...moves)).toBeLessThanOrEqual(1);
});
