/** The order by measurements, with readings that the test chooses. */
import { describe, expect, it } from 'vitest';
import { type Criterion, type Reading, rankBy } from '../../strategies/criteria.js';
import { gradeBy } from '../../strategies/grade.js';
import type { Candidate, Ranked } from '../../strategies/index.js';
import { kthSmallest } from '../../strategies/select.js';
import { inputOf } from './deployments.js';

type Readings = Readonly<Record<string, readonly [value: Reading['value'], missing?: number]>>;

const isAsGood = { text: '20%', isShare: true, of: (value: unknown) => Math.abs(Number(value)) / 5 };

function criterion(readings: Readings, change: Partial<Criterion> = {}): Criterion {
  return {
    readings: new Map(
      Object.entries(readings).map(([node, [value, missing = 0]]) => [
        node,
        { value, missing, text: `${node} = ${value}` },
      ]),
    ),
    better: 'lower',
    width: 0,
    margin: isAsGood,
    unit: '',
    ...change,
  };
}

function ranked(
  readings: Readings,
  change: Partial<Criterion> = {},
  incumbent: string | null = null,
): Ranked[] {
  const { candidates } = inputOf(Object.fromEntries(Object.keys(readings).map((node) => [node, {}])));
  return rankBy({ candidates, incumbent }, [criterion(readings, change)]);
}

const graded = (ranking: readonly Ranked[]) =>
  ranking.map(({ node, grade }) => `${node} ${grade}`).join(', ');

describe('the order by measurements', () => {
  it('is by value among nodes that have one, and by missing measurements before that', () => {
    const readings = { a1: [5, 1], b1: [9, 0], c1: [1, 1], d1: [7, 0] } as const;
    expect(graded(ranked(readings))).toBe('d1 0, b1 1, c1 2, a1 3');
  });

  it.each([0, 10])('puts nodes without a value last, those that miss least first: width %i', (width) => {
    const readings = { a1: [null, 3], b1: [9, 3], c1: [null, 1], d1: [29, 1], e1: [null, 3] } as const;
    expect(graded(ranked(readings, { width }))).toBe('d1 0, b1 1, c1 2, e1 3, a1 3');
  });

  it('names no score for a node without a value', () => {
    expect(ranked({ a1: [null, 1], b1: [5] }).map(({ node, score }) => [node, score])).toEqual([
      ['b1', 5],
      ['a1', undefined],
    ]);
  });

  it('is the same for candidates in any order', () => {
    const readings = { a1: [5], b1: [5], c1: [5] } as const;
    const { candidates } = inputOf({ a1: {}, b1: {}, c1: {} });
    for (const given of [candidates, candidates.toReversed()]) {
      for (const [incumbent, order] of [
        ['a1', 'a1 0, c1 0, b1 0'],
        ['b1', 'b1 0, c1 0, a1 0'],
        ['c1', 'c1 0, b1 0, a1 0'],
        [null, 'c1 0, b1 0, a1 0'],
      ] as const)
        expect(graded(rankBy({ candidates: given, incumbent }, [criterion(readings)]))).toBe(order);
    }
  });

  it('holds nobody back for the leader that has measured more', () => {
    const readings = { a1: [10, 1], b1: [9, 0] } as const;
    expect(ranked(readings, {}, 'a1').map(({ reason }) => reason)).toEqual(['b1 = 9', 'a1 = 10']);
  });

  it('leaves the leader for a node that is better by the margin, in either direction', () => {
    const readings = { a1: [10], b1: [8], c1: [12] } as const;
    expect(graded(ranked(readings, {}, 'a1'))).toBe('b1 0, a1 1, c1 2');
    expect(graded(ranked(readings, { better: 'higher' }, 'a1'))).toBe('c1 0, a1 1, b1 2');
  });

  it('measures the margin to the leader exactly in 64 bits', () => {
    const position = 2n ** 62n;
    const readings = { a1: [position], b1: [position + 100n] } as const;
    const margin = (least: number) => ({ text: String(least), isShare: false, of: () => least });
    expect(graded(ranked(readings, { better: 'higher', margin: margin(100) }, 'a1'))).toBe('b1 0, a1 1');
    expect(graded(ranked(readings, { better: 'higher', margin: margin(101) }, 'a1'))).toBe('a1 0, b1 0');
  });

  it('names the class, but not that of a value that no number can represent', () => {
    const [first, second] = ranked(
      { a1: [2n ** 62n], b1: [17] },
      { better: 'higher', width: 10, unit: ' ms' },
    );
    expect(first?.reason).toBe('a1 = 4611686018427387904');
    expect(second?.reason).toBe('b1 = 17, in the class from 10 to below 20 ms');
  });
});

describe('equal candidates', () => {
  it('are in the order of their ids, however they are given', () => {
    const { candidates } = inputOf({ a1: {}, b1: {}, c1: {} });
    const alike = () => 0;
    const order = (given: readonly Candidate[]) =>
      gradeBy(given, alike).map(({ candidate }) => candidate.node);
    expect([order(candidates), order(candidates.toReversed())]).toEqual([
      ['a1', 'b1', 'c1'],
      ['a1', 'b1', 'c1'],
    ]);
  });
});

it('the k-th smallest value is that of the sorted values', () => {
  const values = [5, 3, 3, 9, 1, 7, 7, 7, 2, 0];
  const sorted = values.toSorted((a, b) => a - b);
  const found = values.map((_, index) => kthSmallest(Float64Array.from(values), index + 1));
  expect(found).toEqual(sorted);
});
