import { describe, expect, it } from 'vitest';
import { present } from '../../src/errors.js';
import { type Author, changeGroup, planChange, type Request } from '../../src/group/change.js';
import { assign } from '../../src/group/config-keys.js';
import { failover } from '../../src/group/handover.js';
import { clearFailure, drainNode, undrainNode } from '../../src/group/nodes.js';
import { pauseGroup, resumeGroup } from '../../src/group/pause.js';
import {
  drainSite,
  forgetSite,
  markSiteFailed,
  markSiteHealthy,
  overridePriority,
  resetPriority,
  undrainSite,
} from '../../src/group/sites.js';
import { sitePriority } from '../../src/model/group-config.js';
import { parseGroupConfig } from '../../src/model/read-config.js';
import { newestRecords } from '../../src/tree/records.js';
import { openStore, parseConnectionString } from '../../src/zookeeper/index.js';
import { newGroup, type TestGroup } from '../support/group.js';
import { startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';

const eve: Author = { by: 'eve', reason: 'tests' };

async function stored(group: TestGroup) {
  const { data } = await group.store.getData(group.paths.config);
  const { value, problem } = parseGroupConfig(data.toString());
  if (value === null) throw new Error(problem);
  return value;
}

async function changes(group: TestGroup): Promise<string[]> {
  const records = await newestRecords(group.store, group.paths, 100);
  return records.flatMap(({ value }) => (value?.kind === 'change' ? [value.what] : []));
}

describe('a change', () => {
  it('is written with who, why and when on the ensemble’s clock, and recorded', async () => {
    await using group = await newGroup();
    const change = await changeGroup(group.access, eve, pauseGroup);
    const stat = await group.store.exists(group.paths.config);
    const clock = await group.store.exists(group.paths.clock);
    expect(change).toMatchObject({ what: 'paused', version: stat?.version });
    const { paused } = await stored(group);
    expect(paused).toMatchObject({ by: 'eve', reason: 'tests' });
    const offMs = Date.parse(paused?.at ?? '') - (clock?.mtimeMs ?? 0);
    expect(Math.abs(offMs)).toBeLessThan(1000);
    const [record] = await newestRecords(group.store, group.paths, 1);
    expect(record?.value).toEqual({
      kind: 'change',
      by: 'eve',
      what: 'paused',
      reason: 'tests',
      at: paused?.at,
    });
  });

  it('that changes nothing writes nothing', async () => {
    await using group = await newGroup();
    await changeGroup(group.access, eve, pauseGroup);
    const again = await changeGroup(group.access, { by: 'bob', reason: null }, pauseGroup);
    expect(again).toMatchObject({
      config: null,
      version: null,
      what: expect.stringContaining('the group is already paused, by eve'),
    });
    expect(await changes(group)).toEqual(['paused']);
  });

  it('is made also where the strategy cannot be used here, unless it is that which changes', async () => {
    await using group = await newGroup();
    await group.store.set(group.paths.config, Buffer.from('{"strategy":"of-our-own"}'), 'any');
    await group.node('a1');
    await group.node('b1');
    await group.lead('a1', 3);
    await changeGroup(group.access, eve, pauseGroup);
    await changeGroup(group.access, eve, resumeGroup);
    await changeGroup(group.access, eve, drainNode('b1'));
    const forced = await changeGroup(group.access, eve, failover({ to: 'b1' }));
    expect(forced).toMatchObject({ follows: null, version: 5 });
    expect((await stored(group)).switchover).toMatchObject({ to: { node: 'b1' }, force: true });
    const another: Request = ({ config }) => ({ config: { ...config, strategy: 'no-other' }, what: 'x' });
    await expect(changeGroup(group.access, eve, another)).rejects.toThrow('unknown strategy "no-other"');
  });

  it('loses no other change, however many come at once', async () => {
    await using group = await newGroup();
    const nodes = ['a1', 'a2', 'a3', 'a4'];
    await Promise.all(nodes.map((node) => changeGroup(group.access, eve, drainNode(node, true))));
    expect(Object.keys((await stored(group)).drained).toSorted()).toEqual(nodes);
    expect(await changes(group)).toHaveLength(nodes.length);
  });

  it('gives up when others are faster every time', async () => {
    await using group = await newGroup();
    const accept = async () => {
      await group.configure({});
    };
    await expect(changeGroup(group.access, eve, pauseGroup, accept)).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect((await stored(group)).paused).toBeNull();
    expect(await changes(group)).toEqual([]);
  });

  it('is stopped if its confirmation is refused', async () => {
    await using group = await newGroup();
    const refuse = () => Promise.reject(new Error('no'));
    await expect(changeGroup(group.access, eve, pauseGroup, refuse)).rejects.toThrow('no');
    expect((await stored(group)).paused).toBeNull();
  });

  it('is refused where the result would be no configuration', async () => {
    await using group = await newGroup();
    const request: Request = ({ config }) => ({ config: { ...config, historySize: 0 }, what: 'nonsense' });
    await expect(changeGroup(group.access, eve, request)).rejects.toMatchObject({
      code: 'INVALID',
      reasons: [expect.stringContaining('historySize')],
    });
  });

  /** Returns a request that replaces the strategy options with this many kilobytes. */
  const fill = (kilobytes: number, letter: string): Request => {
    return ({ config }) => {
      const order = Array.from({ length: kilobytes * 10 }, (_, index) =>
        `${letter}${index}`.padEnd(97, letter),
      );
      const next = { ...config, strategy: 'preference-list', strategyOptions: { order } };
      return { config: next, what: JSON.stringify([config.strategyOptions, next.strategyOptions]) };
    };
  };

  it('of a configuration of any size that fits is recorded in brief', async () => {
    await using group = await newGroup();
    await changeGroup(group.access, eve, fill(500, 'a'));
    await changeGroup(group.access, eve, fill(500, 'b'));
    expect((await stored(group)).strategyOptions).toMatchObject({
      order: expect.arrayContaining(['b0'.padEnd(97, 'b')]),
    });
    expect((await changes(group)).map((what) => what.length)).toEqual([2001, 2001]);
  });

  it('is refused where ZooKeeper could not hold the result, and says where', async () => {
    await using group = await newGroup();
    await expect(changeGroup(group.access, eve, fill(1100, 'a'))).rejects.toMatchObject({
      code: 'INVALID',
      message: expect.stringMatching(
        /nothing was changed: the configuration has \d+ bytes, more than \/.*\/config can hold .*at most 1048575/,
      ),
    });
    expect((await stored(group)).strategy).toBe('site-priority');
  });

  it('is refused while the configuration cannot be read, and says where to repair it', async () => {
    await using group = await newGroup();
    await group.store.set(group.paths.config, Buffer.from('{'), 'any');
    await expect(changeGroup(group.access, eve, pauseGroup)).rejects.toMatchObject({
      code: 'INVALID',
      message: expect.stringMatching(/config.*repair it with petrel config edit/),
    });
  });

  it('whose reply is lost is settled by reading again', async () => {
    await using group = await newGroup();
    await using proxy = await startProxy({ target: group.zookeeper });
    const store = openStore({ servers: parseConnectionString(proxy.address), sessionTimeoutMs: 6000 });
    await store.connected({ timeoutMs: 10_000 });
    try {
      let attempts = 0;
      const change = changeGroup({ ...group.access, store }, eve, pauseGroup, async () => {
        attempts += 1;
        if (attempts === 1) proxy.blackHole('toClient');
      });
      await until(async () => (await stored(group)).paused, { describe: 'the write to be applied' });
      proxy.resetAll();
      await proxy.heal();
      expect(await change).toMatchObject({ what: 'paused', version: 1 });
      expect(attempts).toBe(1);
      expect(await changes(group)).toEqual(['paused']);
    } finally {
      await store.close();
    }
  });

  it('says beforehand what would follow, and writes nothing', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.node('b1');
    await group.lead('a1', 1);
    const plan = await planChange(group.access, eve, drainNode('a1'));
    expect(plan).toMatchObject({
      follows: { node: 'b1', changes: true, cause: 'planned' },
      leavesNobody: false,
    });
    expect((await stored(group)).drained).toEqual({});
    await changeGroup(group.access, eve, drainNode('b1'));
    const worse = await planChange(group.access, eve, drainSite('a'));
    expect(worse).toMatchObject({ follows: { node: null }, leavesNobody: true });
  });

  it('names the leaders whose leadership it ends, also because their slots end', async () => {
    await using group = await newGroup();
    await group.configure({ leaders: 2 });
    await group.node('a1');
    await group.node('b1');
    await group.lead('a1', 1);
    const second = { node: 'b1', site: 'b', term: 1, reason: '', cause: 'first' } as const;
    await group.elect({ node: 'a1', site: 'a', term: 1, reason: '', cause: 'first', slots: 2 });
    await group.elect(second, 2);
    await group.claim('b1', {}, 2);
    const ends = async (request: Request) => (await planChange(group.access, eve, request)).ends;
    expect(await ends(assign([{ key: 'leaders', text: '1' }]))).toEqual([
      { slot: 2, node: 'b1', slotEnds: true },
    ]);
    expect(await ends(drainNode('a1'))).toEqual([{ slot: 1, node: 'a1', slotEnds: false }]);
    expect(await ends(assign([{ key: 'historySize', text: '50' }]))).toEqual([]);
  });

  it('predicts the effect of an affinity from the leader of the group that the change names', async () => {
    await using other = await newGroup();
    await other.node('b1');
    await other.lead('b1', 1);
    await using group = await newGroup();
    await group.node('a1');
    await group.node('b1');
    await group.lead('a1', 1);
    const plan = await planChange(group.access, eve, assign([{ key: 'affinity.group', text: other.root }]));
    expect(plan).toMatchObject({ follows: { node: 'b1', changes: true }, leavesNobody: false });
  });

  it('predicts the effect of a strategy from the scores that only this strategy compares', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.node('b1');
    await group.lead('a1', 1);
    await group.store.create(group.paths.scores, Buffer.alloc(0), 'persistent');
    for (const node of ['a1', 'b1']) {
      const report = {
        node,
        incarnation: node,
        values: { history: node === 'b1' ? 9 : 1 },
        roundTripsMs: {},
      };
      await group.store.create(group.paths.score(node), Buffer.from(JSON.stringify(report)), 'persistent');
    }
    const plan = await planChange(group.access, eve, assign([{ key: 'strategy', text: 'history' }]));
    expect(plan).toMatchObject({ follows: { node: 'b1', changes: true } });
  });
});

describe('a site', () => {
  it('is overridden for a time on the ensemble’s clock, and reset', async () => {
    await using group = await newGroup();
    await group.node('a1');
    const request = overridePriority({ site: 'a', priority: 0, forMs: 7_200_000 });
    const { what, nowMs } = await changeGroup(group.access, eve, request);
    const until = new Date(nowMs + 7_200_000).toISOString();
    expect(what).toBe(`site a: priority 100 → 0, for 2h until ${until.replace(/\.\d+Z/, 'Z')}, then 100`);
    expect((await stored(group)).sites.a).toMatchObject({
      priority: 100,
      override: { priority: 0, until, by: 'eve', reason: 'tests' },
    });
    expect((await changeGroup(group.access, eve, resetPriority('a'))).what).toBe(
      'site a: override ended, priority 0 → 100',
    );
    expect((await stored(group)).sites).toEqual({});
    expect((await changeGroup(group.access, eve, resetPriority('a'))).version).toBeNull();
  });

  it('keeps a lasting override under a temporary one, and loses both when it is reset', async () => {
    await using group = await newGroup();
    await group.node('a1');
    const change = (priority: number, forMs: number | null) =>
      changeGroup(group.access, eve, overridePriority({ site: 'a', priority, forMs }));
    await change(50, null);
    const { what, nowMs, after } = await change(1000, 12_000);
    expect(what).toMatch(/^site a: priority 50 → 1000, for 12s until .*, then 50$/);
    const at = (ms: number) =>
      sitePriority(present(after.config.value, 'the configuration'), 'a', nowMs + ms);
    expect([at(11_000), at(12_000)]).toEqual([1000, 50]);
    expect((await changeGroup(group.access, eve, resetPriority('a'))).what).toBe(
      'site a: override ended, priority 1000 → 100',
    );
  });

  it('is drained and undrained', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await changeGroup(group.access, eve, drainSite('a'));
    expect((await stored(group)).sites.a).toMatchObject({ drained: { by: 'eve' } });
    expect((await changeGroup(group.access, eve, drainSite('a'))).version).toBeNull();
    await changeGroup(group.access, eve, undrainSite('a'));
    expect((await stored(group)).sites).toEqual({});
  });

  it('without nodes is forgotten with its settings, and one with nodes is not', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await group.configure({ sites: { a: { priority: 5 }, x: { priority: 7 }, y: {} } });
    for (const site of ['x', 'y']) {
      expect(await changeGroup(group.access, eve, forgetSite(site))).toMatchObject({
        what: `site ${site}: forgotten`,
        version: expect.any(Number),
      });
    }
    expect(Object.keys((await stored(group)).sites)).toEqual(['a']);
    await expect(changeGroup(group.access, eve, forgetSite('a'))).rejects.toMatchObject({
      code: 'REFUSED',
      reasons: ['registered in site a: a1'],
    });
  });

  it.each([
    ['priority', overridePriority({ site: 'aa', priority: 0, forMs: null })],
    ['reset', resetPriority('aa')],
    ['drain', drainSite('aa')],
    ['undrain', undrainSite('aa')],
    ['mark-failed', markSiteFailed('aa')],
    ['mark-healthy', markSiteHealthy('aa')],
    ['forget', forgetSite('aa')],
  ])('that the group does not know is refused by %s', async (_, request) => {
    await using group = await newGroup();
    await group.node('a1');
    await expect(changeGroup(group.access, eve, request)).rejects.toMatchObject({
      code: 'REFUSED',
      message: 'unknown site aa',
      reasons: ['known sites: a'],
    });
  });

  it('that differs in case from one that the group knows is suggested', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await expect(changeGroup(group.access, eve, drainSite('A'))).rejects.toMatchObject({
      message: 'unknown site A',
      reasons: ['did you mean a? known sites: a'],
    });
  });

  it('that the group does not know yet can be configured if that is meant', async () => {
    await using group = await newGroup();
    const request = { site: 'aa', priority: 0, forMs: null, allowUnknown: true };
    await changeGroup(group.access, eve, overridePriority(request));
    expect((await stored(group)).sites.aa?.override).toMatchObject({ priority: 0, until: null });
  });
});

describe('a node', () => {
  it('is drained and undrained', async () => {
    await using group = await newGroup();
    await group.node('a1');
    await changeGroup(group.access, eve, drainNode('a1'));
    expect((await stored(group)).drained).toMatchObject({ a1: { by: 'eve', reason: 'tests' } });
    expect((await changeGroup(group.access, eve, drainNode('a1'))).version).toBeNull();
    await changeGroup(group.access, eve, undrainNode('a1'));
    expect((await stored(group)).drained).toEqual({});
  });

  it.each([
    ['drain', drainNode('a9')],
    ['undrain', undrainNode('a9')],
    ['clear-failure', clearFailure('a9')],
  ])('that the group does not know is refused by %s', async (_, request) => {
    await using group = await newGroup();
    await group.node('a1');
    await expect(changeGroup(group.access, eve, request)).rejects.toMatchObject({
      code: 'REFUSED',
      message: 'unknown node a9',
      reasons: ['known nodes: a1'],
    });
  });

  it('clears only the failure that it names, and is removed when that failure is gone', async () => {
    await using group = await newGroup();
    const failure = {
      incarnation: 'x',
      count: 1,
      reason: 'exit 1',
      until: '2099-01-01T00:00:00.000Z',
      restarted: false,
    };
    const failedAt = '2026-01-01T00:00:00.000Z';
    const byHand = { by: 'bob', reason: '', at: failedAt };
    await group.node('b1');
    await group.configure({ clearedFailures: { a2: { failedAt, ...byHand } } });
    await group.elect({ failures: [{ ...failure, node: 'a1', failedAt }] });
    expect((await changeGroup(group.access, eve, clearFailure('b1'))).what).toBe('node b1 is not in backoff');
    await changeGroup(group.access, eve, clearFailure('a1'));
    expect((await stored(group)).clearedFailures).toEqual({
      a1: expect.objectContaining({ failedAt, by: 'eve' }),
    });
    expect((await changeGroup(group.access, eve, clearFailure('a1'))).version).toBeNull();
  });
});

describe('a pause', () => {
  it('ends', async () => {
    await using group = await newGroup();
    expect((await changeGroup(group.access, eve, resumeGroup)).what).toBe('the group is not paused');
    await changeGroup(group.access, eve, pauseGroup);
    expect((await changeGroup(group.access, eve, resumeGroup)).what).toBe('resumed (paused by eve)');
    expect((await stored(group)).paused).toBeNull();
  });
});
