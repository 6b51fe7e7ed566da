/** User-defined strategies in agents. The rest of the process never waits for them, whatever they do. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OwnStrategy } from '../../src/own-strategies/own-strategy.js';
import { builtInRules, type RegisteredStrategy, type Rules, strategies } from '../../strategies/index.js';
import { Group } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { until } from '../support/until.js';

let dir = '';
let path = '';
const loaded: OwnStrategy[] = [];
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'petrel-own-'));
  path = join(dir, 'last-by-name.mjs');
  await writeFile(
    path,
    `export default {
      name: 'last-by-name',
      description: 'the last by name; with the option loops it never says which',
      options: { safeParse: (data) => ({ success: true, data }) },
      rank: ({ candidates, options }) => {
        while (options.loops && candidates.length > 2) {}
        return candidates.map(({ node }) => node).reverse().map((node, grade) => ({ node, grade, reason: 'it is last' }));
      },
    };`,
  );
});
afterAll(async () => {
  await Promise.all(loaded.map((strategy) => strategy.close()));
  await rm(dir, { recursive: true, force: true });
});

/**
 * Returns the rules, including the user-defined strategy. Counts the event-loop turns during each question
 * that times out.
 */
async function observed(): Promise<{ readonly rules: Rules; readonly turnsInVain: number[] }> {
  const strategy = await OwnStrategy.load(pathToFileURL(path).href);
  loaded.push(strategy);
  const turnsInVain: number[] = [];
  const watched: RegisteredStrategy = {
    ...{ name: strategy.name, description: strategy.description, version: strategy.version },
    usesScores: () => strategy.usesScores(),
    prepare: (options, rules) => strategy.prepare(options, rules),
    async ask(question) {
      let turns = 0;
      const count = () => {
        turns += 1;
        immediate = setImmediate(count);
      };
      let immediate = setImmediate(count);
      const answer = await strategy.ask(question);
      clearImmediate(immediate);
      if ('failure' in answer && answer.failure.includes('within')) turnsInVain.push(turns);
      return answer;
    },
  };
  return {
    rules: { ...builtInRules, strategies: new Map([...strategies, [strategy.name, watched]]) },
    turnsInVain,
  };
}

describe('a strategy of a user’s own', () => {
  it('that does not end lets the agent go on, and its leader lead', async () => {
    const { rules, turnsInVain } = await observed();
    await using group = await Group.found(await sharedZooKeeper(), {
      ...{ strategy: 'last-by-name', strategyOptions: { loops: true }, failback: 'manual' },
    });
    await group.startInOrder(['a', 'b'], { rules });
    const { stat } = await group.ready('a');
    const last = group.start('c', { rules });
    await until(() =>
      group.members.some(({ log }) => log.some((line) => line.startsWith('no node can run'))),
    );
    expect(turnsInVain.length).toBeGreaterThan(0);
    expect(Math.min(...turnsInVain)).toBeGreaterThan(10);
    expect((await group.ready('a')).stat.czxid).toBe(stat.czxid);
    await group.members[0]?.stop();
    await until(() => last.status.leads || group.members[1]?.status.leads);
  });

  it('ranks for each of several leaders', async () => {
    const { rules } = await observed();
    const config = { strategy: 'last-by-name', leaders: 2, failbackHold: '0s', minLeadership: '0s' };
    await using group = await Group.found(await sharedZooKeeper(), config);
    await group.startInOrder(['a', 'b', 'c'], { rules });
    const leads = (node: string) =>
      until(() => group.members.some((member) => member.node === node && member.status.leads));
    await leads('c');
    await leads('b');
  });

  it('is one that conditional rules may name', async () => {
    const { rules } = await observed();
    const rule = { name: 'always', strategy: 'last-by-name', options: {} };
    const config = { strategy: 'conditional', strategyOptions: { rules: [rule] } };
    await using group = await Group.found(await sharedZooKeeper(), config);
    await group.startInOrder(['a'], { rules });
    await group.ready('a');
    expect((await group.elected()).reason).toContain('by rule always (last-by-name): it is last');
  });
});
