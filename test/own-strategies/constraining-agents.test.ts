/**
 * User-defined constraints in agents: the nodes that they make ineligible, and the effect of a failing
 * constraint on its group.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Elector } from '../../src/agent/elector/elector.js';
import { loadRules } from '../../src/own-strategies/load.js';
import { systemClock } from '../../src/ports/clock.js';
import { builtInRules, type RegisteredConstraint, type Rules } from '../../strategies/index.js';
import {
  claim,
  config,
  decided,
  members,
  registration,
  group as snapshotOf,
  versioned,
} from '../core/builders.js';
import { byHand, Group } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { RecordingWorkload } from '../support/recording-workload.js';
import { until } from '../support/until.js';

let dir = '';
let rules: Rules = builtInRules;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'petrel-own-'));
  const path = join(dir, 'no-spares.mjs');
  await writeFile(
    path,
    `export default {
      name: 'no-spares',
      description: 'no node with the tag spare; it fails as the flags loops and throws say',
      check({ tags }, { flags }) {
        while (flags.includes('loops')) {}
        if (flags.includes('throws')) throw new Error('oh no');
        return 'spare' in tags ? { strength: 'hard', reason: 'it is a spare' } : null;
      },
    };`,
  );
  rules = await loadRules({ strategies: [], constraints: [path] });
});
afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

const spare = { tags: { spare: 'yes' } };
const named = { constraints: ['no-spares'] };

describe('a constraint of a user’s own', () => {
  it('keeps a node from leading, with its reason, and lets another', async () => {
    await using group = await Group.found(await sharedZooKeeper(), named);
    const [a] = await group.startInOrder(['a'], { rules, ...spare });
    const nobody = 'still no node is elected: no node is eligible: a: it is a spare';
    await until(() => a?.log.includes(nobody), { describe: nobody });
    group.start('b', { rules });
    await group.ready('b');
  });

  it('moves the leader that it is against, as planned', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    await group.startInOrder(['a'], { rules, ...spare });
    await group.ready('a');
    await group.startInOrder(['b'], { rules });
    await group.configure(named);
    await group.ready('b');
    expect(await group.elected()).toMatchObject({ cause: 'planned' });
    expect((await group.elected()).reason).toContain('instead of a (it is a spare)');
  });

  it('for each of several leaders', async () => {
    await using group = await Group.found(await sharedZooKeeper(), { ...named, leaders: 2 });
    await group.startInOrder(['a'], { rules, ...spare });
    await group.startInOrder(['b', 'c'], { rules });
    const leading = () => group.members.filter(({ status }) => status.leads).map(({ node }) => node);
    await until(() => leading().length === 2);
    expect(leading()).toEqual(['b', 'c']);
  });

  it('that an elector does not know makes it give up its seat to one that does', async () => {
    await using group = await Group.found(await sharedZooKeeper(), named);
    const [a] = await group.startInOrder(['a'], spare);
    const [b] = await group.startInOrder(['b'], { rules });
    await group.ready('b');
    await until(() => b?.status.elector);
    expect(a?.log.some((line) => line.includes('constraints: unknown constraint "no-spares"'))).toBe(true);
  });

  it.each([
    ['throws', 'constraint no-spares failed: oh no'],
    ['loops', 'constraint no-spares failed: the module did not respond'],
  ])('that %s harms no leader, and does not keep the group from electing', async (flag, problem) => {
    await using group = await Group.found(await sharedZooKeeper(), named);
    await group.startInOrder(['b', 'c'], { rules });
    const { stat, node } = await until(async () => await group.current());
    await group.ready(node);
    await group.configure({ flags: { [flag]: byHand('to see') } });
    const lines = () => group.members.flatMap(({ log }) => log);
    const last =
      'no node can run strategy site-priority with constraints no-spares: using first-available without them';
    await until(() => lines().includes(last), { timeoutMs: 20_000, describe: last });
    expect(lines().some((line) => line.includes(problem))).toBe(true);
    expect((await group.ready(node)).stat.czxid).toBe(stat.czxid);
    await group.members.find((one) => one.node === node)?.stop();
    await group.ready(node === 'b' ? 'c' : 'b');
  });
});

/**
 * Returns a constraint that makes this node ineligible. Another version of the constraint can be about
 * another node.
 */
function against(node: string): RegisteredConstraint {
  return {
    ...{ name: 'no-spares', version: node },
    prepare: () => ({
      ...{ kind: 'no-spares', description: 'a spare', ends: 'planned', canBeForced: true },
      checkAll: () => new Map([[node, { strength: 'hard', reason: 'it is a spare' }]]),
    }),
    ask: async () => ({ findings: [] }),
  };
}

describe('the next elector', () => {
  it('takes no elector for silent over what its own version of a constraint finds', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    const elector = new Elector({
      ...{ node: 'b1', site: 'b', paths: group.paths, workload: new RecordingWorkload(), clock: systemClock },
      ...{ log: pino({ level: 'silent' }), notify() {}, dueSinceMs: () => 0, wake() {}, config: () => null },
      rules: { ...builtInRules, ownConstraints: new Map([['no-spares', against('a1')]]) },
      updateRegistration: (change) => registration('b1', change),
      claimWith: () => null,
    });
    const wouldWrite = async (settings: Parameters<typeof config>[0]) => {
      const elected = versioned(decided({ node: 'a1', term: 1 }));
      const snapshot = snapshotOf({
        ...{ elected, current: claim('a1'), config: versioned(config(settings)) },
      });
      const turn = {
        store: group.store,
        snapshot,
        members: members('a1', 'b1'),
        seat: 'b1',
        unwritten: null,
      };
      return await elector.wouldWrite(turn);
    };
    expect(await wouldWrite(named)).toBe(false);
    const drained = { drained: { a1: byHand('maintenance') } };
    expect(await wouldWrite(drained)).toBe(true);
    expect(await wouldWrite({ ...named, ...drained })).toBe(true);
  });
});
