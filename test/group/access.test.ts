/** The access that each role has to the znodes of a group with a full history. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkSameAccess, lockedOut, readAcls, setAcl, type ZnodeAcl } from '../../src/group/access.js';
import { changeGroup, type Request } from '../../src/group/change.js';
import type { GroupAccess } from '../../src/group/config-write.js';
import { evict } from '../../src/group/evict.js';
import { switchover } from '../../src/group/handover.js';
import { pauseGroup, resumeGroup } from '../../src/group/pause.js';
import { overridePriority } from '../../src/group/sites.js';
import { readOrEstimateClock } from '../../src/group/time.js';
import { readGroup } from '../../src/group/view.js';
import { awaitTerm } from '../../src/group/wait.js';
import { type Access, aclOf } from '../../src/model/access.js';
import { openAcl } from '../../src/model/acl.js';
import { groupPaths } from '../../src/model/paths.js';
import { systemClock } from '../../src/ports/clock.js';
import type { Store } from '../../src/ports/store.js';
import { Measurements } from '../../src/scores/measurements.js';
import { digestIdentity } from '../../src/zookeeper/digest.js';
import { builtInRules } from '../../strategies/index.js';
import { connect, Group, type Security } from '../support/agent-group.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { secrets } from '../support/secrets.js';
import { until } from '../support/until.js';
import { failureOf } from '../zookeeper/probe.js';

const { agents, operators, observers } = secrets.zooKeeper;
const access: Access = {
  agents: [digestIdentity(agents)],
  operators: [digestIdentity(operators)],
  observers: [digestIdentity(observers)],
  world: 'none',
};
const eve = { by: 'eve', reason: 'a test' };
const nothing = Buffer.alloc(0);

let group: Group;
const stores: Store[] = [];

function security(root: string, credentials: string | null, rights: Access | null = access): Security {
  const paths = groupPaths(root);
  return {
    ...(credentials === null ? {} : { auth: [{ scheme: 'digest', credentials }] }),
    ...(rights === null ? {} : { acl: (path) => aclOf(rights, paths, path) }),
  };
}

async function found(credentials: string | null, rights: Access | null): Promise<Group> {
  const root = uniqueRoot('access');
  return await Group.found(await sharedZooKeeper(), {}, root, security(root, credentials, rights));
}

async function as(credentials: string | null, rights: Access | null = access): Promise<Store> {
  const store = connect(group.connectString, 6000, undefined, security(group.root, credentials, rights));
  stores.push(store);
  await store.connected();
  return store;
}

async function accessAs(credentials: string): Promise<GroupAccess> {
  return { store: await as(credentials), paths: group.paths, rules: builtInRules, clock: systemClock };
}

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await group?.[Symbol.asyncDispose]();
});

async function startThree(): Promise<void> {
  const measurements = new Measurements();
  measurements.report('load', 1);
  for (const node of ['a1', 'b1', 'c1']) {
    await group.start(node, { site: node.slice(0, 1), measurements }).joined();
  }
}

async function untilReady(node: string): Promise<void> {
  await until(async () => {
    const current = await group.current();
    return current?.node === node && current.status === 'READY';
  });
}

/** Returns the error codes of all writes to a znode, and of creating a child of the znode. */
async function writes(store: Store, path: string): Promise<string[]> {
  const errors = await Promise.all([
    failureOf(store.set(path, nothing, 'any')),
    failureOf(store.create(`${path}/child`, nothing, 'persistent')),
    failureOf(store.setAcl(path, openAcl, 'any')),
    ...(path === group.root ? [] : [failureOf(store.delete(path, 'any'))]),
    failureOf(store.multi([{ type: 'set', path, data: nothing, version: 'any' }])),
  ]);
  return [...new Set(errors.map(({ code }) => code))];
}

async function reads(store: Store, path: string): Promise<string[]> {
  const errors = await Promise.all([
    failureOf(store.getData(path)),
    failureOf(store.getChildren(path)),
    failureOf(store.multi([{ type: 'check', path, version: 'any' }])),
  ]);
  return [...new Set(errors.map(({ code }) => code))];
}

describe('a group with roles', () => {
  beforeEach(async () => {
    group = await found(agents, access);
    await startThree();
    await untilReady('a1');
  });

  /** Makes every change that operators can make by commands. */
  async function everything(): Promise<void> {
    const operator = await accessAs(operators);
    const change = (request: Request) => changeGroup(operator, eve, request);
    await change(overridePriority({ site: 'a', priority: 0, forMs: 3_600_000 }));
    await untilReady('b1');
    await change(pauseGroup);
    await change(resumeGroup);
    await change(switchover({ to: { node: 'c1' }, notBeforeMs: null }));
    await untilReady('c1');
    const { incarnation } =
      (await readGroup({ store: group.store, paths: group.paths, rules: builtInRules })).members[0]?.value ??
      {};
    await evict(operator, eve, { node: 'a1', dead: false });
    await until(async () => {
      const { members, seats } = await readGroup({
        store: group.store,
        paths: group.paths,
        rules: builtInRules,
      });
      return members.length === 3 && seats.length === 3 && incarnation !== undefined;
    });
    await until(async () => (await group.store.getChildren(group.paths.scores)).children.length === 3);
  }

  it('gives every znode its ACL, and lets each do what is theirs and nothing else', async () => {
    await everything();
    const znodes = await readAcls(group.store, group.paths, access);
    expect(znodes.filter(({ isRight }) => !isRight)).toEqual([]);
    const kinds = new Set(
      znodes.map(({ path }) => path.slice(group.root.length).replace(/\/[^/]*-?\d+$/, '/N')),
    );
    expect([...kinds].toSorted()).toEqual([
      '',
      '/clock',
      '/config',
      '/election',
      '/election/N',
      '/history',
      '/history/N',
      '/leader',
      '/leader/current',
      '/leader/elected',
      '/leader/successor',
      '/nodes',
      '/nodes/N',
      '/scores',
      '/scores/N',
    ]);

    const stranger = await as(null, null);
    const guesser = await as('petrel:guessed', null);
    const observer = await as(observers);
    for (const { path } of znodes) {
      for (const store of [stranger, guesser]) {
        expect(await reads(store, path), path).toEqual(['NO_AUTH']);
        expect(await writes(store, path), path).toEqual(['NO_AUTH']);
      }
      expect((await observer.getData(path)).stat.version, path).toBeGreaterThanOrEqual(0);
      expect(await writes(observer, path), path).toEqual(['NO_AUTH']);
    }
    await operatorsMay(znodes);
  });

  async function operatorsMay(znodes: readonly ZnodeAcl[]): Promise<void> {
    const operator = await as(operators);
    const { config, clock, elected, current, leader, nodes, election } = group.paths;
    for (const { path } of znodes) {
      expect((await failureOf(operator.setAcl(path, openAcl, 'any'))).code, path).toBe('NO_AUTH');
      if (path === config || path === clock) continue;
      expect((await failureOf(operator.set(path, nothing, 'any'))).code, path).toBe('NO_AUTH');
    }
    for (const path of [leader, nodes, election, elected, group.root]) {
      expect((await failureOf(operator.create(`${path}/child`, nothing, 'persistent'))).code).toBe('NO_AUTH');
    }
    expect((await failureOf(operator.delete(config, 'any'))).code).toBe('NO_AUTH');
    expect((await operator.getData(current)).stat.ephemeralOwner).not.toBe(0n);
  }

  it('shows itself to an observer, who cannot read the clock by a write', async () => {
    const observer = await as(observers);
    const view = await readGroup({ store: observer, paths: group.paths, rules: builtInRules });
    expect(view.members.map(({ node }) => node)).toEqual(['a1', 'b1', 'c1']);
    expect((await readOrEstimateClock(observer, view, systemClock)).epochMs).toBe(view.newestChangeMs);
    const { term } = await group.elected();
    const outcome = await awaitTerm(await accessAs(observers), term, { timeoutMs: 20_000 });
    expect(outcome).toMatchObject({ state: 'READY', node: 'a1' });
  });

  it('takes a session up again with credentials only, and lets it be ended without', async () => {
    const first = await as(agents);
    const path = `${group.root}/mine`;
    await first.create(path, nothing, 'ephemeral');
    const ticket = { id: first.sessionId, password: first.sessionPassword };
    await first.close({ abandon: true });
    const again = connect(group.connectString, 6000, ticket, security(group.root, agents));
    stores.push(again);
    await again.connected();
    expect((await again.getData(path)).stat.ephemeralOwner).toBe(ticket.id);
    await again.close({ abandon: true });
    const bare = connect(group.connectString, 6000, ticket);
    stores.push(bare);
    await bare.connected();
    expect((await failureOf(bare.getData(path))).code).toBe('NO_AUTH');
    expect(await bare.close()).toBe(true);
    expect(await group.store.exists(path)).toBeNull();
  });

  it('takes no change of one whose records others could not read', async () => {
    const alone: Access = { ...access, agents: access.operators, operators: [] };
    const operator = await as(operators);
    const [own = null] = access.operators;
    const check = (rights: Access, who = own) => checkSameAccess(operator, group.paths, rights, who);
    await expect(check(alone)).rejects.toThrow(/differ from the ACLs/);
    await check(access);
    await check({ ...access, agents: [digestIdentity('petrel:next'), ...access.agents] });
    // The check accepts this, because ZooKeeper itself rejects a client that may change nothing.
    await check(alone, access.observers[0]);
  });
});

describe('a group that was open', () => {
  it('is closed while it runs, once all its agents have credentials', async () => {
    const open: Access = { ...access, world: 'all' };
    group = await found(null, null);
    await group.start('a1').joined();
    const applier = await as(agents, open);
    expect(lockedOut(await readAcls(applier, group.paths, access), group.paths, access)).toEqual(['a1']);
    await group.members[0]?.stop();

    const migrated = Group.over(group.connectString, group.root, security(group.root, agents, open));
    await group[Symbol.asyncDispose]();
    group = migrated;
    await group.start('a1').joined();
    await group.ready('a1');
    // Waits for the history record, which is the last znode that the node creates with an open ACL.
    const { term } = await group.elected();
    await until(async () => {
      return (await group.history()).some((record) => record.kind === 'transition' && record.term === term);
    });
    const before = await readAcls(applier, group.paths, access);
    expect(lockedOut(before, group.paths, access)).toEqual([]);
    expect(before.filter(({ isRight }) => isRight)).toEqual([]);
    for (const znode of before) expect(await setAcl(applier, znode), znode.path).toBe(true);
    const after = await readAcls(applier, group.paths, access);
    expect(after.filter(({ isRight }) => !isRight)).toEqual([]);
    const stranger = await as(null, null);
    for (const { path } of after) expect(await reads(stranger, path), path).toEqual(['NO_AUTH']);
    await group.configure({ failback: 'manual' });
    expect(group.members[0]?.status).toMatchObject({ leads: true, joined: true });
  });
});

describe('another password', () => {
  const next = `${agents}-next`;
  const renewed = digestIdentity(next);
  const both: Access = { ...access, agents: [...access.agents, renewed] };
  const alone: Access = { ...access, agents: [renewed] };

  /** Restarts the nodes one after the other, so that there is always a leader. */
  async function restartAll(credentials: string, rights: Access): Promise<void> {
    for (const node of ['a1', 'b1']) {
      await group.members.findLast((one) => one.node === node)?.stop();
      await group.start(node, { security: security(group.root, credentials, rights) }).joined();
    }
  }

  async function apply(credentials: string, rights: Access): Promise<void> {
    const applier = await as(credentials, rights);
    for (const znode of await readAcls(applier, group.paths, rights)) await setAcl(applier, znode);
  }

  it('is added next to the old one, and the old one goes, while the group goes on', async () => {
    group = await found(agents, access);
    await group.startInOrder(['a1', 'b1']);
    await restartAll(agents, both);
    await apply(agents, both);
    await restartAll(next, both);
    await restartAll(next, alone);
    await apply(next, alone);
    const after = await as(next, alone);
    await until(
      async () =>
        (await readGroup({ store: after, paths: group.paths, rules: builtInRules })).current?.value
          ?.status === 'READY',
    );
    const znodes = await readAcls(after, group.paths, alone);
    expect(znodes.filter(({ isRight }) => !isRight)).toEqual([]);
    const former = await as(agents);
    for (const { path } of znodes) expect(await reads(former, path), path).toEqual(['NO_AUTH']);
    expect(group.members.filter(({ ended }) => ended?.error != null)).toEqual([]);
  });
});
