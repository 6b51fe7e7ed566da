/**
 * Checks that merged steps hide nothing: with and without merging, the same views are possible from outside.
 */
import { expect, it } from 'vitest';
import { type Exploration, Explorer } from './explore.js';
import { explorationOf, scenarioOf } from './scenarios.js';
import { Rulebook } from './steps.js';
import type { World } from './world.js';

it.each([
  scenarioOf('first-3', { faults: ['crash', 'lose', 'takeover-fails'] }),
  scenarioOf('first-3', { faults: ['expire'] }),
  scenarioOf('switchover-2', { setting: { shortSessions: true }, faults: ['crash', 'expire'] }),
  scenarioOf('back-2', { setting: { shortSessions: true }, faults: ['takeover-fails'] }),
])('what is left out of $name, with faults $faults, never shows up anywhere', (scenario) => {
  const reduced = seenIn(explorationOf(scenario));
  const full = seenIn(explorationOf(scenario, { withoutReduction: true }));
  expect(reduced.states).toBeLessThan(full.states);
  expect([...full.seen].filter((one) => !reduced.seen.has(one))).toEqual([]);
  expect([...reduced.seen].filter((one) => !full.seen.has(one))).toEqual([]);
});

interface Seen {
  readonly states: number;
  readonly seen: ReadonlySet<string>;
}

function seenIn(exploration: Exploration): Seen {
  const explorer = new Explorer(exploration);
  const book = new Rulebook(exploration.rules);
  const keyOf = (world: World) => {
    const { low, high } = explorer.key(world);
    return `${low} ${high}`;
  };
  const known = new Set<string>([keyOf(exploration.start)]);
  const seen = new Set<string>([outsideOf(exploration, exploration.start)]);
  const open: World[] = [exploration.start];
  for (let world = open.pop(); world !== undefined; world = open.pop()) {
    for (const { world: next } of book.stepsOf(world)) {
      const key = keyOf(next);
      if (known.has(key)) continue;
      known.add(key);
      seen.add(outsideOf(exploration, next));
      open.push(next);
    }
  }
  return { states: known.size, seen };
}

/**
 * Returns the view of a world from outside. It consists of the znodes and everything that runs on the
 * machines.
 */
function outsideOf({ isGood, isHopeful }: Exploration, world: World): string {
  const { tree, agents, faults, changes } = world;
  const { elected, current, members, seats, history } = tree;
  const failures = elected?.value?.failures.map(
    ({ node, count, until }) => `${node} ${count} ${until === null}`,
  );
  return JSON.stringify([
    [elected?.value?.node, failures],
    [current?.value?.node, current?.value?.status, current?.value?.term === elected?.value?.term],
    members.map(({ node }) => node),
    seats.map(({ node }) => node),
    [history?.value?.term === elected?.value?.term, history?.value?.fencingToken === String(current?.token)],
    agents.map(({ process, work, hook }) => [process, work !== null, hook?.phase, hook?.state]),
    [faults, changes, isGood(world), isHopeful(world)],
  ]);
}
