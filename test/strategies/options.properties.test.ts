import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { strategies } from '../../strategies/index.js';
import { anyJson, expectClear, holds, spoilt, treacherousKeys } from '../support/properties.js';

const names = fc.oneof(fc.constantFrom('a1', 'b1', 'b2', ...treacherousKeys), fc.string());
const numbers = fc.oneof(fc.nat(3), fc.constantFrom(0, 1_000_000, Number.MAX_SAFE_INTEGER));

const candidates = fc.uniqueArray(
  fc.record({
    node: names,
    site: names,
    priority: numbers,
    sitePriority: numbers,
    scores: fc.constant(new Map()),
    seat: fc.option(fc.nat(5)),
    tags: fc.dictionary(names, names),
    startedAt: fc.constant('2026-01-01T00:00:00.000Z'),
  }),
  { selector: ({ node }) => node, maxLength: 8 },
);

describe.each([...strategies.values()])('strategy $name', ({ name, prepare }) => {
  const good = name === 'preference-list' ? { order: ['a1', 'toString', 'b1'] } : {};

  it('takes options or says what is wrong with them, and ranks every candidate once', async () => {
    const options = fc.oneof(fc.constant<unknown>(good), spoilt(good), anyJson, spoilt({ order: ['a1'] }));
    await holds(
      fc.property(options, candidates, fc.option(names), (raw, given, before) => {
        const { strategy, problems } = prepare(raw);
        if (strategy === null) return expectClear(problems.join('; '));
        const previous = before === null ? null : { node: before, site: 'a' };
        const ranked = strategy.rank({ candidates: given, previous, peers: [], incumbent: null, term: 1 });
        expect(ranked.map(({ node }) => node).toSorted()).toEqual(given.map(({ node }) => node).toSorted());
        for (const { grade, reason } of ranked) {
          expect(Number.isInteger(grade)).toBe(true);
          expect(reason).not.toBe('');
        }
      }),
      0.5,
    );
  });
});
