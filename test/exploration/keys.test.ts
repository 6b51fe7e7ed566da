/**
 * Checks that two worlds with the same key have the same futures, for every such pair that the exploration
 * meets.
 */
import { expect, it } from 'vitest';
import { Explorer } from './explore.js';
import { FacetWriter, Keyer, kinds } from './key.js';
import { explorationOf, scenarioOf } from './scenarios.js';
import { Rulebook } from './steps.js';
import type { World } from './world.js';

it.each([
  scenarioOf('first-2', { faults: ['crash', 'takeover-fails', 'takeover-hangs'] }),
  scenarioOf('switchover-2', { faults: ['lose', 'freeze'] }),
  scenarioOf('switchover-3', { faults: ['crash', 'expire', 'takeover-fails'], maxFaults: 2 }),
])('what a world’s key leaves out changes no step ($name)', (scenario) => {
  const exploration = explorationOf(scenario, { withoutReduction: true });
  const explorer = new Explorer(exploration);
  const book = new Rulebook(exploration.rules);
  const keyOf = (world: World) => {
    const { low, high } = explorer.key(world);
    return `${low} ${high}`;
  };
  const future = (world: World) =>
    book.stepsOf(world).map((step) => `${step.kind} ${step.actor} ${keyOf(step.world)} ${step.violation}`);
  const known = new Map<string, string>();
  const open: World[] = [exploration.start];
  let pairs = 0;
  for (let world = open.pop(); world !== undefined && pairs < 5_000; world = open.pop()) {
    const key = keyOf(world);
    const ahead = future(world).join('\n');
    const before = known.get(key);
    if (before !== undefined) {
      pairs += 1;
      if (before !== ahead) {
        const words = book.stepsOf(world).map((step) => step.words);
        expect(`${words.join('\n')}\n${ahead}`).toBe(`${words.join('\n')}\n${before}`);
      }
      continue;
    }
    known.set(key, ahead);
    open.push(...book.stepsOf(world).map((step) => step.world));
  }
  expect(pairs).toBeGreaterThan(2_000);
});

it('a key that cannot hold a world throws', () => {
  const put = (value: number) => new FacetWriter().put(kinds.due, value).done();
  expect(() => put(2 ** 31)).toThrow('a key cannot hold 2147483648');
  expect(() => put(0.5)).toThrow('a key cannot hold 0.5');
  const times = { nowMs: 0, ensembleNowMs: 0, backMs: 0, exact: false, mayRestart: false };
  const many = (count: number) => Array.from({ length: count }, () => put(1));
  new Keyer().hash(many(8192), times);
  expect(() => new Keyer().hash(many(8193), times)).toThrow('a key of more than 8192 numbers');
});
