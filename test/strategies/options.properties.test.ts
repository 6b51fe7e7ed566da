import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { builtInRules, strategies } from '../../strategies/index.js';
import { ordinary } from '../core/builders.js';
import { anyJson, expectClear, holds, spoilt, treacherousKeys } from '../support/properties.js';

const names = fc.oneof(fc.constantFrom('a1', 'b1', 'b2', ...treacherousKeys), fc.string());
const numbers = fc.oneof(fc.nat(3), fc.constantFrom(0, 1_000_000, Number.MAX_SAFE_INTEGER));

const measured = fc.oneof(
  fc.nat(3),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
);
const scoreNames = fc.constantFrom('history', 'requests', 'queue', ...treacherousKeys);
const scores = fc.uniqueArray(fc.tuple(scoreNames, measured), { selector: ([name]) => name });
const trips = fc.array(
  fc.tuple(names, fc.oneof(fc.nat(3), fc.double({ min: 0, noDefaultInfinity: true, noNaN: true }))),
);
const peers = fc.uniqueArray(
  fc.record({
    node: names,
    site: names,
    scores: scores.map((entries) => new Map(entries)),
    roundTripsMs: trips.map((entries) => new Map(entries)),
  }),
  { selector: ({ node }) => node, maxLength: 8 },
);

const candidates = fc.uniqueArray(
  fc.record({
    node: names,
    site: names,
    priority: numbers,
    sitePriority: numbers,
    scores: scores.map((entries) => new Map(entries)),
    seat: fc.option(fc.nat(5)),
    tags: fc.dictionary(names, names),
    startedAt: fc.constant('2026-01-01T00:00:00.000Z'),
  }),
  { selector: ({ node }) => node, maxLength: 8 },
);

const goodOptions: Record<string, Record<string, unknown>> = {
  'preference-list': { order: ['a1', 'toString', 'b1'] },
  history: { score: 'history', width: 10, margin: 5 },
  request: { score: 'requests', width: 0.5, margin: '20%' },
  consensus: { size: 3, width: 10, margin: '20%' },
  latency: { size: 3, load: 'requests', width: 10, margin: '20%' },
  'worst-case': { size: 3, width: 10, margin: '20%' },
  pole: {
    scores: [
      { score: 'latency', better: 'lower', width: 10 },
      { score: 'queue', better: 'lower', width: 3, margin: 1 },
      { score: 'history', better: 'higher', width: 0.3, margin: '1%' },
    ],
    size: 3,
    load: 'requests',
    margin: '20%',
  },
  conditional: {
    rules: [
      { name: 'late', when: { between: ['23:00', '01:00'] }, strategy: 'oldest' },
      { name: 'usual', strategy: 'preference-list', options: { order: ['b1'] } },
    ],
  },
};

describe.each([...strategies.values()])('strategy $name', ({ name, prepare }) => {
  const good = goodOptions[name] ?? {};

  it('takes options or says what is wrong with them, and ranks every candidate once', async () => {
    const options = fc.oneof(fc.constant<unknown>(good), spoilt(good), anyJson, spoilt({ order: ['a1'] }));
    await holds(
      fc.property(options, candidates, peers, fc.option(names), (raw, given, others, before) => {
        const { strategy, problems } = prepare(raw, builtInRules);
        if (strategy === null) return expectClear(problems.join('; '));
        const previous = before === null ? null : { node: before, site: 'a' };
        const incumbent = given.find(({ node }) => node === before)?.node ?? null;
        const ranked = strategy.rank({
          candidates: given,
          previous,
          peers: others,
          incumbent,
          term: 1,
          conditions: ordinary,
        });
        expect(ranked.map(({ node }) => node).toSorted()).toEqual(given.map(({ node }) => node).toSorted());
        const grades = ranked.map(({ grade }) => grade);
        expect(grades).toEqual(grades.toSorted((a, b) => a - b));
        for (const { grade, reason, score } of ranked) {
          expect(Number.isInteger(grade)).toBe(true);
          expect(Number.isFinite(score ?? 0)).toBe(true);
          expectClear(reason);
        }
      }),
      0.5,
    );
  });
});
