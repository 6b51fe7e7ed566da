/** Compares the strategies that rank by scores with naive implementations. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Score } from '../../src/model/scores.js';
import type { Peer, Ranked, StrategyInput } from '../../strategies/index.js';
import { holds } from '../support/properties.js';
import { inputOf, rankedBy } from './deployments.js';

type Input = Omit<StrategyInput<unknown>, 'options'>;

/** Round trips are integers, so that sums never differ by rounding errors. One in ten is unknown. */
const tripMs = fc.option(fc.integer({ min: 0, max: 30 }), { freq: 9 });
const rate = fc.option(fc.integer({ min: 0, max: 5 }), { freq: 4 });

const topology = fc
  .integer({ min: 1, max: 7 })
  .chain((count) =>
    fc.record({
      trips: fc.array(fc.array(tripMs, { minLength: count, maxLength: count }), {
        minLength: count,
        maxLength: count,
      }),
      rates: fc.array(rate, { minLength: count, maxLength: count }),
      eligible: fc.subarray([...Array(count).keys()], { minLength: 1 }),
      size: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
      crashed: fc.boolean(),
    }),
  )
  .map(({ trips, rates, eligible, size, crashed }) => {
    const name = (index: number) => `n${index}`;
    const nodes = trips.map((row, from) => {
      const known = row.flatMap((ms, to) => (ms === null || to === from ? [] : [[name(to), ms] as const]));
      const requests = rates[from] ?? null;
      return [
        name(from),
        { scores: requests === null ? {} : { requests }, roundTripsMs: Object.fromEntries(known) },
      ] as const;
    });
    const previous = crashed ? { node: 'gone', site: 'a' } : null;
    const input = inputOf(Object.fromEntries(nodes), { previous });
    const isEligible = ({ node }: { node: string }) => eligible.some((index) => name(index) === node);
    return { input: { ...input, candidates: input.candidates.filter(isEligible) }, size };
  });

function trip(peers: readonly Peer[], from: string, to: string): number | undefined {
  if (from === to) return 0;
  const of = (node: string) => peers.find((peer) => peer.node === node)?.roundTripsMs;
  return of(from)?.get(to) ?? of(to)?.get(from);
}

/** Returns the time until a quorum answers, or null if too few nodes answer. */
function quorumMs({ peers, previous }: Input, size: number | undefined, node: string): number | null {
  const of = size ?? peers.length + (previous === null ? 0 : 1);
  const vector = peers.map((peer) => trip(peers, node, peer.node)).filter((ms) => ms !== undefined);
  return vector.toSorted((a, b) => a - b)[Math.floor(of / 2)] ?? null;
}

type Key = readonly [isUnknown: number, missing: number, value: number];

function latencyKey(input: Input, size: number | undefined, node: string): Key {
  const { peers } = input;
  const quorum = quorumMs(input, size, node);
  const rates = peers.map(({ scores }) => Number(scores.get('requests') ?? 0));
  const isKnown = rates.some((one) => one > 0);
  const clients = peers
    .map((peer, index) => ({ weight: isKnown ? (rates[index] ?? 0) : 1, ms: trip(peers, node, peer.node) }))
    .filter(({ weight }) => weight > 0);
  const reached = clients.flatMap(({ weight, ms }) => (ms === undefined ? [] : [{ weight, ms }]));
  if (quorum === null) return [1, 0, 0];
  if (reached.length === 0) return [1, clients.length, 0];
  const total = reached.reduce((sum, { weight }) => sum + weight, 0);
  const mean = reached.reduce((sum, { weight, ms }) => sum + (weight / total) * ms, 0);
  return [0, clients.length - reached.length, quorum + mean];
}

function worstCaseKey(input: Input, size: number | undefined, node: string): Key {
  const quorum = quorumMs(input, size, node);
  const trips = input.peers.map((peer) => trip(input.peers, node, peer.node));
  const reached = trips.filter((ms) => ms !== undefined);
  if (quorum === null) return [1, 0, 0];
  return [0, trips.length - reached.length, quorum + Math.max(...reached)];
}

function consensusKey(input: Input, size: number | undefined, node: string): Key {
  const quorum = quorumMs(input, size, node);
  return quorum === null ? [1, 0, 0] : [0, 0, quorum];
}

function compareKeys(a: Key, b: Key): number {
  for (const [index, part] of a.entries()) {
    const gap = part - (b[index] ?? 0);
    if (Math.abs(gap) > 1e-7) return gap;
  }
  return 0;
}

describe.each([
  ['consensus', consensusKey],
  ['latency', latencyKey],
  ['worst-case', worstCaseKey],
] as const)('%s', (strategy, keyOf) => {
  it('elects who is best by trying everybody, in a thousand topologies', async () => {
    await holds(
      fc.property(topology, ({ input, size }) => {
        const keys = input.candidates.map(({ node }) => ({ node, key: keyOf(input, size, node) }));
        const best = keys.reduce((a, b) => (compareKeys(b.key, a.key) <= 0 ? b : a));
        const [elected] = rankedBy(strategy, input, size === undefined ? {} : { size });
        const found = keys.find(({ node }) => node === elected?.node);
        if (best.key[0] === 1) {
          expect(found?.key[0]).toBe(1);
          return;
        }
        expect(elected?.node).toBe(best.node);
        expect(elected?.score).toBeCloseTo(best.key[2], 5);
      }),
      10,
    );
  });
});

const value = fc.option(fc.oneof(fc.integer({ min: 0, max: 12 }), fc.bigInt({ min: 0n, max: 12n })), {
  freq: 6,
});
const criterion = fc.record({
  better: fc.constantFrom('higher', 'lower'),
  width: fc.constantFrom(0, 1, 3, 2.5),
  margin: fc.constantFrom(0, 1, 4, '20%', '50%'),
});
const contest = fc.record({
  criteria: fc.array(criterion, { minLength: 1, maxLength: 4 }),
  values: fc.array(fc.array(value, { minLength: 4, maxLength: 4 }), { minLength: 2, maxLength: 6 }),
});

interface Entry {
  readonly score: string;
  readonly better: string;
  readonly width: number;
  readonly margin: number | string;
}

function contestOf({ criteria, values }: typeof contest extends fc.Arbitrary<infer T> ? T : never) {
  const scores: readonly Entry[] = criteria.map((one, index) => ({ score: `s${index}`, ...one }));
  const nodes = values.map((row, index) => {
    const given = row.flatMap((one, place): [string, Score][] => (one === null ? [] : [[`s${place}`, one]]));
    return [`n${index}`, { scores: Object.fromEntries(given) }] as const;
  });
  return { options: { scores }, scores, input: inputOf(Object.fromEntries(nodes)) };
}

/** Returns a negative number if `a` is better. Compares only the classes of the scores. */
function compareClasses(a: ReadonlyMap<string, Score>, b: ReadonlyMap<string, Score>, entry: Entry): number {
  const level = (one: Score | undefined) => {
    if (one === undefined) return Number.POSITIVE_INFINITY;
    const own = entry.width === 0 ? Number(one) : Math.floor(Number(one) / entry.width);
    return entry.better === 'higher' ? -own : own;
  };
  const [own, other] = [level(a.get(entry.score)), level(b.get(entry.score))];
  return own < other ? -1 : own > other ? 1 : 0;
}

function lexicographic(
  a: ReadonlyMap<string, Score>,
  b: ReadonlyMap<string, Score>,
  entries: readonly Entry[],
): number {
  return entries.map((entry) => compareClasses(a, b, entry)).find((order) => order !== 0) ?? 0;
}

const places = (ranking: readonly Ranked[]) => new Map(ranking.map(({ node, grade }) => [node, grade]));

describe('pole', () => {
  it('orders as one would by hand: score by score, class by class, then by the higher id', async () => {
    await holds(
      fc.property(contest, (drawn) => {
        const { options, scores, input } = contestOf(drawn);
        const byHand = input.candidates.toSorted(
          (a, b) => lexicographic(a.scores, b.scores, scores) || (a.node < b.node ? 1 : -1),
        );
        expect(rankedBy('pole', input, options).map(({ node }) => node)).toEqual(
          byHand.map(({ node }) => node),
        );
      }),
      5,
    );
  });

  it('makes an order of any two that does not hang on who else is there', async () => {
    await holds(
      fc.property(contest, (drawn) => {
        const { options, input } = contestOf(drawn);
        const [incumbent = null] = input.candidates.map(({ node }) => node);
        const all = places(rankedBy('pole', { ...input, incumbent }, options));
        for (const a of input.candidates) {
          for (const b of input.candidates) {
            const candidates = input.candidates.filter((one) =>
              [a.node, b.node, incumbent].includes(one.node),
            );
            const few = places(rankedBy('pole', { ...input, candidates, incumbent }, options));
            const order = (grades: ReadonlyMap<string, number>) =>
              Math.sign((grades.get(a.node) ?? 0) - (grades.get(b.node) ?? 0));
            expect(order(few)).toBe(order(all));
          }
        }
      }),
      2,
    );
  });

  it('finds nobody better than the leader who would not be without one, and each by a margin', async () => {
    await holds(
      fc.property(contest, (drawn) => {
        const { options, scores, input } = contestOf(drawn);
        for (const leader of input.candidates) {
          const ranking = rankedBy('pole', { ...input, incumbent: leader.node }, options);
          const own = places(ranking).get(leader.node) ?? 0;
          for (const other of input.candidates) {
            if ((places(ranking).get(other.node) ?? 0) >= own) continue;
            expect(lexicographic(other.scores, leader.scores, scores)).toBeLessThan(0);
            expect(beatsByMargin(other.scores, leader.scores, scores)).toBe(true);
          }
          const first = ranking.find(({ grade }) => grade === own);
          expect(first?.node).toBe(leader.node);
        }
      }),
      5,
    );
  });
});

/** Whether `a` is better than `b`. The first score in which they differ by both class and margin decides. */
function beatsByMargin(
  a: ReadonlyMap<string, Score>,
  b: ReadonlyMap<string, Score>,
  entries: readonly Entry[],
): boolean {
  for (const entry of entries) {
    const order = compareClasses(a, b, entry);
    if (order > 0) return false;
    if (order < 0 && isBeyondMargin(a.get(entry.score), b.get(entry.score), entry)) return true;
  }
  return false;
}

function isBeyondMargin(a: Score | undefined, b: Score | undefined, { margin }: Entry): boolean {
  if (a === undefined || b === undefined) return true;
  const needed = typeof margin === 'number' ? margin : (Number.parseFloat(margin) / 100) * Number(b);
  return Math.abs(Number(a) - Number(b)) >= needed;
}
