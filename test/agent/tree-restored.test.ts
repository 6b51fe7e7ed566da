import { expect, it } from 'vitest';
import { type Store, StoreError } from '../../src/ports/store.js';
import { deleteTree, Group } from '../support/agent-group.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';

/**
 * Returns a store that refuses to create the root while `refuses` returns true. Such a refusal creates
 * nothing, so no watch fires.
 */
function refusing(root: string, store: Store, refuses: () => boolean): Store {
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'multi') {
        return async (...call: Parameters<Store['multi']>) => {
          const creates = call[0].some((one) => one.type === 'create' && one.path === root);
          if (creates && refuses()) throw new StoreError('NO_NODE', 'no parent');
          return await target.multi(...call);
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

it('A12 a tree that cannot be created at first is tried again within the retry time, not after the last rest', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  let refusals = 0;
  const a = group.start('a', {
    wrap: (store) =>
      refusing(group.root, store, () => {
        refusals += 1;
        return refusals <= 4;
      }),
  });
  await group.ready('a');
  await deleteTree(group.store, group.root);
  await until(() => refusals > 4, {
    timeoutMs: 25_000,
    describe: 'the tree to be tried again',
  });
  expect(
    a.log.filter((message) => message.includes("cannot create the group's znodes")).length,
  ).toBeGreaterThan(0);
  await group.ready('a');
});

it('A12 an agent that cannot create the tree leaves all the same', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  const a = group.start('a', { wrap: (store) => refusing(group.root, store, () => true) });
  await group.ready('a');
  await deleteTree(group.store, group.root);
  await until(() => a.log.some((message) => message.includes("cannot create the group's znodes")));
  await a.stop();
  expect(a.ended).toEqual({ error: null });
});

it('A2 a chroot that vanishes is waited for, and reported once', async () => {
  const zooKeeper = await sharedZooKeeper();
  await using outside = await Group.found(zooKeeper);
  const chroot = uniqueRoot('chroot');
  await outside.store.create(chroot, Buffer.alloc(0), 'persistent');
  await using group = await Group.found(`${zooKeeper}${chroot}`);
  const a = group.start('a');
  const { stat } = await group.ready('a');
  await deleteTree(outside.store, chroot);
  const reports = () => a.log.filter((message) => message.includes('chroot of the connection string'));
  await until(() => reports().length > 0);
  expect(a.ended).toBeNull();
  await outside.store.create(chroot, Buffer.alloc(0), 'persistent');
  const again = await group.ready('a');
  expect(again.stat.czxid).toBeGreaterThan(stat.czxid);
  expect(reports()).toHaveLength(1);
});

it.each([{ paused: { by: 'op', at: '2026-01-01T00:00:00.000Z', reason: 'maintenance' } }, { paused: null }])(
  'A10 a tree that is deleted is made again with its configuration, and a good leader stays: $paused',
  async ({ paused }) => {
    await using group = await Group.found(await sharedZooKeeper(), { failback: 'manual' });
    const [a] = await group.startInOrder(['a', 'b']);
    await group.ready('a');
    await group.switchover('b');
    const { stat, term } = await group.ready('b');
    await group.configure({ paused, sites: { here: { priority: 7 } } });
    const before = await group.config();
    await until(() => a?.agent.snapshot?.config.value?.sites.here?.priority === 7);
    await deleteTree(group.store, group.root);
    const again = await until(async () => {
      const current = await group.current();
      return current?.status === 'READY' && current.stat.czxid > stat.czxid && current;
    });
    expect(await group.config()).toEqual(before);
    expect([again.node, again.term]).toEqual(['b', term]);
    const [record] = await until(async () => {
      const records = await group.history();
      return records.length > 0 && records;
    });
    expect(record).toMatchObject({ node: 'b', previous: { node: 'b' }, term, cause: 'retry' });
    const reports = group.members.flatMap(({ log }) => log.filter((line) => line.includes('are missing')));
    expect(reports.length).toBeGreaterThan(0);
    for (const line of reports) expect(line).toContain(`decision of term ${term}`);
  },
);

it('A12 an ensemble that has lost all its data is reported by a warning', async () => {
  const zooKeeper = await sharedZooKeeper();
  await using way = await startProxy({ target: zooKeeper });
  await using group = await Group.found(zooKeeper);
  const a = group.start('a', { connect: way.address });
  const { term } = await group.ready('a');
  way.refuse();
  await a.expire(zooKeeper);
  await deleteTree(group.store, group.root);
  await way.heal();
  await group.ready('a');
  const lost = a.warnings.filter((line) => line.startsWith('znodes of the group are missing'));
  expect(lost).toEqual([
    expect.stringContaining(`creating them with the configuration and the decision of term ${term}`),
  ]);
});
