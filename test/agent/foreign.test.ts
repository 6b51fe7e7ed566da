/** Fault T9 (docs/reports/faults.md): another application uses the root of a group. */
import { expect, it } from 'vitest';
import { takeSeat } from '../../src/agent/membership.js';
import { isHeldByOthers } from '../../src/tree/foreign.js';
import { prune } from '../../src/tree/history-room.js';
import { silentLog } from '../hooks/support.js';
import { Group } from '../support/agent-group.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { until } from '../support/until.js';

it('T9 an agent does not begin where another application elects, and leaves its znodes alone', async () => {
  await using group = Group.over(await sharedZooKeeper(), uniqueRoot('foreign'));
  const { store, paths } = group;
  await store.connected();
  await store.create(group.root, Buffer.alloc(0), 'persistent');
  await store.create(paths.election, Buffer.alloc(0), 'persistent');
  const theirs = await store.create(`${paths.election}/lock-`, Buffer.from('host 7'), 'ephemeral-sequential');
  const a = group.start('a');
  await until(() => a.ended !== null);
  expect(a.ended?.error).toMatchObject({ code: 'INVALID', message: expect.stringContaining('lock-') });
  expect((await store.getChildren(group.root)).children).toEqual(['election']);
  expect(await store.exists(theirs)).not.toBeNull();
});

/**
 * Patroni gives these names to its leader, configuration and history. Kafka also uses the name of the
 * configuration.
 */
const others = {
  'an ephemeral leader': { name: 'leader', data: 'pg1', mode: 'ephemeral' },
  'a history of its own': {
    name: 'history',
    data: '[[1,67108960,"no recovery target"]]',
    mode: 'persistent',
  },
  'a configuration of its own': { name: 'config', data: '{"ttl":30,"loop_wait":10}', mode: 'persistent' },
  'a clock of its own': { name: 'clock', data: '12:00', mode: 'persistent' },
} as const;

it.each(Object.entries(others))(
  'T9 an agent does not begin where %s stands',
  async (_, { name, data, mode }) => {
    await using group = Group.over(await sharedZooKeeper(), uniqueRoot('foreign'));
    const { store } = group;
    await store.connected();
    await store.create(group.root, Buffer.alloc(0), 'persistent');
    const theirs = await store.create(`${group.root}/${name}`, Buffer.from(data), mode);
    const a = group.start('a');
    await until(() => a.ended !== null);
    expect(a.ended?.error).toMatchObject({ code: 'INVALID', message: expect.stringContaining(theirs) });
    expect((await store.getChildren(group.root)).children).toEqual([name]);
    expect((await store.getData(theirs)).data.toString()).toBe(data);
  },
);

it('T9 a configuration that was written for a group before its first agent is taken', async () => {
  await using group = Group.over(await sharedZooKeeper(), uniqueRoot('foreign'));
  const { store, paths } = group;
  await store.connected();
  await store.create(group.root, Buffer.alloc(0), 'persistent');
  await store.create(paths.config, Buffer.from('{"failback":"manual"}'), 'persistent');
  await store.create(paths.history, Buffer.alloc(0), 'persistent');
  group.start('a');
  await group.ready('a');
});

it('T9 a znode that only looks like a seat does not count as one', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  const { store, paths } = group;
  const theirs = await store.create(`${paths.election}/lock-`, Buffer.from('host 7'), 'ephemeral-sequential');
  const ours = await takeSeat(store, paths, 'a');
  // A seat that an operator created by mistake. No session owns it, so it may be deleted.
  const nobodys = await store.create(`${paths.election}/ghost--000000005`, Buffer.alloc(0), 'persistent');
  const answers = [theirs, paths.seat(ours), nobodys].map((path) => {
    return isHeldByOthers(store, paths, path.slice(paths.election.length + 1));
  });
  expect(await Promise.all(answers)).toEqual([true, false, false]);
});

it('T9 what is no record stays in the history', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  const { store, paths } = group;
  await store.create(paths.historyRecord('notes'), Buffer.alloc(0), 'persistent');
  for (let record = 0; record < 3; record++) {
    const data = Buffer.from('{}');
    await store.multi([{ type: 'create', path: paths.historyPrefix, data, mode: 'persistent-sequential' }]);
  }
  await prune(store, paths, { recorded: 3, keep: 1 }, silentLog);
  expect((await store.getChildren(paths.history)).children.toSorted()).toEqual(['0000000003', 'notes']);
});
