import { describe, expect, it } from 'vitest';
import { permissions, toAnyone } from '../../src/model/acl.js';
import { type GroupPaths, groupPaths } from '../../src/model/paths.js';
import type { Store } from '../../src/ports/store.js';
import { ensureTree } from '../../src/tree/ensure-tree.js';
import { openStore, parseConnectionString } from '../../src/zookeeper/index.js';
import { byHand, deleteTree, Group, type Member } from '../support/agent-group.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { overlaps } from '../support/recording-workload.js';
import { until } from '../support/until.js';

async function threeNodes(config: Record<string, unknown> = {}): Promise<Group> {
  const group = await Group.found(await sharedZooKeeper(), {
    backoff: { base: '1s', max: '1s' },
    ...config,
  });
  await group.startInOrder(['a', 'b', 'c']);
  await group.ready('a');
  return group;
}

function memberOf(group: Group, node: string): Member {
  const member = group.members.find((one) => one.node === node);
  if (member === undefined) throw new Error(`no ${node}`);
  return member;
}

function overlapsOf(group: Group): string[] {
  return overlaps(Object.fromEntries(group.members.map(({ node, recorded }) => [node, recorded])));
}

async function oneLeader(group: Group): Promise<string> {
  return await until(
    async () => {
      const current = await group.current().catch(() => null);
      const leaders = group.members.filter(({ status }) => status.leads).map(({ node }) => node);
      return current?.status === 'READY' && leaders.join() === current.node ? current.node : null;
    },
    { timeoutMs: 20_000, describe: 'one leader' },
  );
}

/** Opens a session of another client, which sets ACLs that keep all other clients out. */
async function stranger(zooKeeper: string): Promise<Store> {
  const store = openStore({
    servers: parseConnectionString(zooKeeper),
    sessionTimeoutMs: 6000,
    auth: [{ scheme: 'digest', credentials: 'stranger:secret' }],
  });
  await store.connected();
  return store;
}

describe('znodes that somebody deletes', () => {
  it('are created again, the whole tree of them, and one node leads', async () => {
    await using group = await threeNodes();
    const token = (await group.current())?.stat.czxid ?? 0n;
    await deleteTree(group.store, group.root);
    await until(async () => (await group.seats().catch(() => [])).length === 3);
    await oneLeader(group);
    expect((await group.current())?.stat.czxid).toBeGreaterThan(token);
    expect(overlapsOf(group)).toEqual([]);
    await group.switchover('b');
    await group.ready('b');
  });

  const parents: [string, (paths: GroupPaths) => string][] = [
    ['config', ({ config }) => config],
    ['nodes', ({ nodes }) => nodes],
    ['election', ({ election }) => election],
    ['leader', ({ leader }) => leader],
    ['leader/elected', ({ elected }) => elected],
    ['history', ({ history }) => history],
    ['clock', ({ clock }) => clock],
  ];
  it.each(parents)('are created again: %s', async (_, pathOf) => {
    await using group = await threeNodes();
    const path = pathOf(group.paths);
    memberOf(group, 'b').recorded.does('takeover', () => Promise.reject(new Error('no disk')));
    await deleteTree(group.store, path);
    // The next node that needs the znode creates it again. For example, a node needs the clock to time a
    // backoff.
    await group.startInOrder(['d']);
    await until(async () => {
      if ((await group.store.exists(path)) !== null) return true;
      await group.switchover('b').catch(() => {});
      return false;
    });
    await oneLeader(group);
    await until(async () => {
      await group.switchover('d');
      return (await group.elected()).node === 'd';
    });
    await group.ready('d');
    expect(overlapsOf(group)).toEqual([]);
  });
});

describe('content that makes no sense', () => {
  const nonsense = [
    ['not JSON', '{"node":'],
    ['of the wrong kind', '{"node":7,"status":"MAYBE","term":"x","site":[],"health":"fine"}'],
    ['empty', ''],
    ['as large as ZooKeeper takes', JSON.stringify({ reason: 'x'.repeat(1_000_000) })],
  ] as const;
  const places: [string, (paths: GroupPaths) => string][] = [
    ['config', ({ config }) => config],
    ['leader/elected', ({ elected }) => elected],
    ['leader/current', ({ current }) => current],
    ['the leader’s registration', (paths) => paths.node('a')],
    ['a standby’s registration', (paths) => paths.node('b')],
    ['history', ({ history }) => history],
  ];
  const cases = places.flatMap(([place, pathOf]) =>
    nonsense.map(([kind, text]) => [place, kind, pathOf, text] as const),
  );

  it.each(cases)(
    'in %s, %s: a node leads on, and leadership can still move',
    async (place, _, pathOf, text) => {
      await using group = await threeNodes();
      await group.store.set(pathOf(group.paths), Buffer.from(text), 'any');
      const leader = await oneLeader(group);
      if (place === 'config') await group.store.set(group.paths.config, Buffer.from('{}'), 'any');
      const next = leader === 'c' ? 'a' : 'c';
      await until(async () => {
        await group.switchover(next).catch(() => {});
        return (await group.elected().catch(() => null))?.node === next;
      });
      await group.ready(next);
      expect(overlapsOf(group)).toEqual([]);
      await until(async () => {
        const records = await group.history();
        return records.some((record) => record.kind === 'transition' && record.node === next);
      });
    },
  );

  it('in config, soon after a pause: the next elector does not count the pause', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    const a = group.start('a');
    await group.ready('a');
    await group.configure({ paused: byHand('work on the storage') });
    const b = group.start('b');
    // `b` has read the pause as the next elector, and everything else that it needs as the elector.
    await until(() => b.agent.snapshot?.config.value?.paused != null && b.agent.snapshot.members !== null);
    await group.configure({ paused: null, resumed: byHand('it is done') });
    await until(() => b.agent.snapshot?.config.value?.paused === null);
    await group.store.set(group.paths.config, Buffer.from('{"strategi":"oldest"}'), 'any');
    await a.expire(group.connectString);
    await group.ready('b');
    expect(b.log.join('\n')).toMatch(
      /configuration cannot be used; deciding with the last readable configuration/,
    );
  });

  it('under names that are nobody’s: they are left alone', async () => {
    await using group = await threeNodes();
    const strays = [
      `${group.paths.election}/stray`,
      `${group.paths.election}/x-12`,
      `${group.paths.election}/-0000000000`,
      `${group.paths.nodes}/stray`,
      `${group.paths.leader}/stray`,
      `${group.paths.history}/stray`,
      `${group.root}/stray`,
    ];
    for (const path of strays) await group.store.create(path, Buffer.from('?'), 'persistent');
    const token = (await group.current())?.stat.czxid;
    await group.startInOrder(['d']);
    await memberOf(group, 'b').abandon();
    expect((await group.current())?.stat.czxid).toBe(token);
    await group.switchover('d');
    await group.ready('d');
    for (const path of strays) expect(await group.store.exists(path)).not.toBeNull();
  });
});

describe('texts without end', () => {
  const endless = 'x'.repeat(3_000_000);

  it('in a failure: it is recorded, cut, and the next node leads', async () => {
    await using group = await threeNodes();
    memberOf(group, 'b').recorded.does('takeover', () => Promise.reject(new Error(`no disk ${endless}`)));
    await group.switchover('b');
    await until(() => memberOf(group, 'b').recorded.of('release').length === 1);
    await oneLeader(group);
    expect((await group.elected()).failures[0]?.reason).toMatch(/no disk x+…$/);
  });

  it('in a reason of bad health: it is published, cut, and leadership moves', async () => {
    await using group = await threeNodes();
    memberOf(group, 'a').agent.setHealth(false, `no disk ${endless}`);
    await until(async () => (await oneLeader(group)) !== 'a');
    expect((await group.elected()).reason).toContain('no disk');
  });
});

describe('a lack of permission', () => {
  it('to use the group at all is an error that names the path', async () => {
    const zooKeeper = await sharedZooKeeper();
    const owner = await stranger(zooKeeper);
    const root = uniqueRoot('theirs');
    await ensureTree(owner, groupPaths(root));
    await using theirs = Group.over(zooKeeper, root);
    const a = theirs.start('a');
    const ended = await until(() => a.ended);
    expect(ended.error).toMatchObject({ code: 'FORBIDDEN' });
    expect(String(ended.error)).toContain(`${root}/nodes/a`);
    await owner.close();
  });

  it('that comes later makes every node release, leave, and say which path it was', async () => {
    await using group = await threeNodes();
    const owner = await stranger(group.connectString);
    await owner.multi([
      { type: 'delete', path: group.paths.config, version: 'any' },
      { type: 'create', path: group.paths.config, data: Buffer.from('{}'), mode: 'persistent' },
    ]);
    const ended = await until(() => memberOf(group, 'a').ended);
    expect(ended.error).toMatchObject({ code: 'FORBIDDEN' });
    expect(String(ended.error)).toContain(group.paths.config);
    expect(memberOf(group, 'a').recorded.runs.map(({ context }) => context.phase)).toEqual([
      'takeover',
      'release',
    ]);
    expect(await group.current()).toBeNull();
    await owner.close();
  });

  it('to read one node’s registration concerns that node alone', async () => {
    await using group = await threeNodes();
    const owner = await stranger(group.connectString);
    const token = (await group.current())?.stat.czxid;
    await owner.create(group.paths.node('x'), Buffer.from('{}'), 'ephemeral');
    await group.startInOrder(['d']);
    expect((await group.current())?.stat.czxid).toBe(token);
    await group.switchover('d');
    await group.ready('d');
    await owner.close();
  });

  it('to write to the seat of the elected node: it is elected all the same', async () => {
    await using group = await threeNodes();
    const [, seat] = (await group.seats()).toSorted();
    const readOnly = toAnyone(permissions.read);
    await group.store.setAcl(group.paths.seat(seat ?? ''), [readOnly], 'any');
    await group.switchover('b');
    await until(async () => (await group.elected()).node === 'b');
    expect(memberOf(group, 'a').ended).toBeNull();
  });

  it('to read a claim that somebody else made: it is waited out', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    const owner = await stranger(group.connectString);
    await owner.create(group.paths.current, Buffer.from('mine'), 'ephemeral');
    const a = group.start('a');
    await until(async () => (await group.elected()).node === 'a');
    expect(a.ended).toBeNull();
    await owner.close();
    // ZooKeeper reports no change to a client without permission to read the znode. The change of the
    // configuration makes the node read the group again.
    await group.configure({ historySize: 9 });
    await group.ready('a');
  });
});

describe('a node that is evicted while it lives', () => {
  async function evict(group: Group, node: string): Promise<void> {
    const seats = (await group.seats()).filter((name) => name.startsWith(`${node}-`));
    await group.store.multi([
      ...seats.map((name) => ({ type: 'delete', path: group.paths.seat(name), version: 'any' }) as const),
      { type: 'delete', path: group.paths.node(node), version: 'any' },
    ]);
  }

  it('as a standby: it takes a new seat, one, at the end', async () => {
    await using group = await threeNodes();
    const token = (await group.current())?.stat.czxid;
    await evict(group, 'b');
    await until(async () => (await group.store.exists(group.paths.node('b'))) !== null);
    const seats = await until(async () => {
      const names = await group.seats();
      return names.length === 3 ? names : null;
    });
    expect(
      seats
        .map((name) => name.slice(2))
        .sort()
        .at(-1),
    ).toBe(seats.find((name) => name.startsWith('b-'))?.slice(2));
    expect((await group.current())?.stat.czxid).toBe(token);
  });

  it('as the leader and elector: any one node leads, and the evicted one is back at the end', async () => {
    await using group = await threeNodes();
    await evict(group, 'a');
    await until(async () => (await group.seats()).length === 3);
    await until(() => memberOf(group, 'b').status.elector);
    await oneLeader(group);
    await until(() => memberOf(group, 'a').status.joined);
    expect(memberOf(group, 'a').status.elector).toBe(false);
    expect(overlapsOf(group)).toEqual([]);
  });
});
