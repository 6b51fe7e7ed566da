/** Measures the cost of one elector round by the number of nodes. Runs the agent's code without ZooKeeper. */

import { bench, describe } from 'vitest';
import { parseJson } from '../../src/model/names.js';
import { registrationSchema } from '../../src/model/registration.js';
import { type GroupMemory, groupRound } from '../../src/slots/group-round.js';
import { constraints } from '../../strategies/constraints/index.js';
import {
  claim,
  config,
  decided,
  epoch0Ms,
  group,
  member,
  registration,
  strategyOf,
  versioned,
} from '../../test/core/builders.js';

const sizes = [10, 1_000, 10_000];
const settings = config();
const strategy = strategyOf(settings);
const leader = 'n00000';

for (const size of sizes) {
  const nodes = Array.from({ length: size }, (_, seat) => {
    return member(`n${String(seat).padStart(5, '0')}`, {}, { seat });
  });
  const without = nodes.slice(1);
  const led = versioned(decided({ node: leader, term: 1 }));
  const ready = group({ config: versioned(settings), elected: led, current: claim(leader), members: nodes });
  const orphaned = group({ config: versioned(settings), elected: led, current: null, members: without });
  const published = { ...ready, successor: null };
  const round = (snapshot: typeof ready, members: typeof nodes, memory: GroupMemory = new Map()) =>
    groupRound({
      self: 'n00001',
      snapshot,
      members,
      config: settings,
      strategy,
      constraints,
      memory,
      clock: { epochMs: epoch0Ms, atMs: 0 },
      nowMs: 0,
      canFence: false,
      observedSinceMs: Number.NEGATIVE_INFINITY,
    });

  describe(`${size.toLocaleString('en')} nodes`, () => {
    bench('a round: the leader is READY, nothing is to be done', () => {
      round(ready, nodes);
    });
    bench('a first round: the leader is READY, a successor is looked for', () => {
      round(published, nodes);
    });
    const { memory } = round(published, nodes);
    bench('a later round: the leader is READY, a successor is known', () => {
      round(published, nodes, memory);
    });
    bench('a round: the leader is gone, another is elected', () => {
      round(orphaned, without);
    });
  });
}

describe('reading', () => {
  const text = JSON.stringify(registration('a1'));
  bench('a registration', () => {
    parseJson(registrationSchema, text);
  });
});
