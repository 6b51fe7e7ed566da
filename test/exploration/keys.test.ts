/** Two worlds with one key have the same futures: tried on every pair that is met. */
import { expect, it } from 'vitest';
import { Explorer } from './explore.js';
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
