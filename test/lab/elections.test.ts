/**
 * Tests elections by vote, elections through ZooKeeper, Petrel's own election, and the properties that all
 * elections share.
 */
import { describe, expect, it } from 'vitest';
import { algorithms } from '../../packages/lab/src/algorithms/index.js';
import { zooKeeperRecipe } from '../../packages/lab/src/algorithms/zookeeper-recipe.js';
import { conditions } from '../../packages/lab/src/conditions.js';
import { resultOf, runsOf, tasksOf } from '../../packages/lab/src/experiment.js';
import { runTasks } from '../../packages/lab/src/pool.js';
import { broken, everyAlgorithm, experiment, mean } from './run.js';

/** The elections that survive a crash. */
const electing = everyAlgorithm.filter((name) => name !== 'anonymous' && !name.startsWith('sync-ring'));

describe.each(electing)('%s', (name) => {
  // Simulating Petrel's own agents takes a hundred times as long. `test/simulation` tests them in all of
  // these conditions and more.
  const runs = name === 'petrel' ? 1 : 3;

  it('agrees on one leader, whatever happens', async () => {
    for (const scenario of ['start', 'crash', 'bye', 'alarm', 'join', 'restart']) {
      for (const nodes of [3, 12]) {
        const result = await experiment(name, { nodes, scenario }, runs);
        expect([scenario, mean(result, 'agreed'), mean(result, 'misled')]).toEqual([scenario, 1, 0]);
      }
    }
  });

  it('agrees over a network that loses messages and is slow at random', async () => {
    const delay = { kind: 'exponential', meanMs: 10 };
    expect(mean(await experiment(name, { nodes: 5, loss: 0.1, delay }, 3), 'agreed')).toBe(1);
  });
});

// The ring without a repair does not survive a crash during an election.
describe.each(electing.filter((name) => name !== 'ring'))('%s', (name) => {
  it('agrees after two crashes that leave a majority', async () => {
    for (const nodes of [5, 12]) {
      const result = await experiment(name, { nodes, scenario: 'crashes' }, name === 'petrel' ? 1 : 3);
      expect([nodes, mean(result, 'agreed'), mean(result, 'misled')]).toEqual([nodes, 1, 0]);
    }
  });
});

// POLE's timer doubles without a limit. After enough losses, it exceeds the simulated time, so POLE is left
// out.
describe.each(electing.filter((name) => !name.startsWith('pole')))('%s', (name) => {
  it('agrees though two of five messages are lost, and then stays with whom it agreed on', async () => {
    for (const scenario of ['start', 'crash', 'bye']) {
      const result = await experiment(name, { nodes: 5, loss: 0.4, scenario, limitMs: 120_000 }, 3);
      expect([scenario, mean(result, 'agreed')]).toEqual([scenario, 1]);
      expect(mean(result, 'upkeep')).toBeLessThan(40);
    }
  });
});

describe.each(['majority', 'pole', 'pole-rotating', 'pole-latency', 'zk-recipe', 'zk-herd', 'petrel'])(
  '%s',
  (name) => {
    it('is as theory has it', async () => {
      for (const scenario of ['start', 'crash', 'bye']) {
        for (const nodes of [5, 30]) {
          const runs = name === 'majority' ? 200 : 2;
          expect(broken(await experiment(name, { nodes, scenario }, runs))).toEqual([]);
        }
      }
    });
  },
);

// The second mean delay is longer than the interval between two lease renewals.
it.each([100, 600])(
  'two masters never hold leases at a time, whatever is lost and whichever node comes back, at %i ms',
  async (meanMs) => {
    for (const scenario of ['start', 'crash', 'restart', 'midway']) {
      const given = {
        nodes: 5,
        scenario,
        delay: { kind: 'exponential', meanMs },
        loss: 0.2,
        limitMs: 60_000,
      };
      expect((await experiment('majority', given, 40)).measures.leaders?.most).toBe(1);
    }
  },
);

describe('a partition that cuts a minority off with the leader', () => {
  it.each(['pole', 'pole-latency', 'majority', 'zk-recipe', 'petrel'])(
    'leaves %s with one leader, on the majority’s side',
    async (name) => {
      const { measures } = await experiment(
        name,
        { nodes: 5, scenario: 'partition' },
        name === 'petrel' ? 1 : 5,
      );
      expect(measures.agreed?.least).toBe(1);
      expect(measures.leaders?.most).toBe(1);
      expect(measures['leaders of the minority']?.most).toBe(0);
      expect(measures['leaders of the majority']?.least).toBe(1);
    },
  );

  it.each(['bully', 'lcr', 'le-s'])('leaves %s with one leader on each side', async (name) => {
    const { measures } = await experiment(name, { nodes: 5, scenario: 'partition' }, 5);
    expect(measures.agreed?.least).toBe(1);
    expect(measures['leaders of the minority']?.least).toBe(1);
    expect(measures['leaders of the majority']?.least).toBe(1);
  });
});

it('ZooKeeper’s recipe with the misprinted watch never elects a second leader', async () => {
  const given = { nodes: 5, scenario: 'crash', limitMs: 60_000 } as const;
  const run = (watches: 'below' | 'misprint') => zooKeeperRecipe('x', 'x', watches).run(conditions(given), 1);
  expect((await run('below')).agreed).toBe(1);
  expect((await run('misprint')).agreed).toBe(0);
});

describe('an experiment', () => {
  const cases = [...algorithms.keys()].map((algorithm) => {
    return { algorithm, conditions: conditions({ nodes: 8, scenario: 'crash', loss: 0.2 }) };
  });
  const run = async (workers: number, seed: number) => {
    const tasks = tasksOf(cases, 3, seed);
    const measured = await runTasks(tasks, { workers, aloneMs: 0, progress: () => {} });
    const ran = runsOf(tasks, measured);
    return JSON.stringify(cases.map((one) => resultOf(one, ran(one, seed))));
  };

  it('is the same by the byte with the same seed, whatever the number of workers', async () => {
    const once = await run(1, 7);
    expect(await run(2, 7)).toBe(once);
    expect(await run(1, 7)).toBe(once);
    expect(await run(1, 8)).not.toBe(once);
  });
});
