import { expect, it } from 'vitest';
import { z } from 'zod';
import { explain, explanationSchema } from '../../src/group/explain.js';
import { groupPaths } from '../../src/model/paths.js';
import type { Strategy } from '../../src/model/strategy.js';
import { builtInRules, strategies } from '../../strategies/index.js';
import { register } from '../../strategies/registry.js';
import { Bench } from '../core/bench.js';

/** Ranks nodes by node id. The grades are not whole numbers. */
const fractional: Strategy = {
  name: 'site-priority',
  description: 'by node id, with fractional grades',
  options: z.unknown(),
  rank: ({ candidates }) =>
    candidates.map(({ node }, index) => ({ node, grade: index / 2 - 1, reason: 'in order' })),
};

it('explains a strategy whose grades are not whole numbers', () => {
  const rules = {
    ...builtInRules,
    strategies: new Map([...strategies, [fractional.name, register(fractional)]]),
  };
  const bench = new Bench(['a1', 'b1']);
  const rest = { rules, seats: [], problems: [], newestChangeMs: 0 };
  const view = { ...bench.snapshot, ...rest, members: bench.members, paths: groupPaths('/group') };
  const explained = explain(view, bench.epochMs);
  expect(explained.ranking.map(({ node, grade }) => [node, grade])).toEqual([
    ['a1', -1],
    ['b1', -0.5],
  ]);
  expect(explanationSchema.parse(explained)).toEqual(explained);
});
