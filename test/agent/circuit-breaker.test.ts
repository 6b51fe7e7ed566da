import { expect, it } from 'vitest';
import { Group } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { uniqueRoot } from '../support/unique-root.js';
import { until } from '../support/until.js';

it('P59 when more groups than may have moved by themselves, the next one waits for a person', async () => {
  const zookeeper = await sharedZooKeeper();
  const settings = {
    circuitBreaker: { transitions: 1, record: `${uniqueRoot('circuit-breaker')}/circuit-breaker` },
    failback: 'manual',
  };
  await using first = await Group.found(zookeeper, settings);
  await using second = await Group.found(zookeeper, settings);
  for (const group of [first, second]) {
    await group.startInOrder(['elector', 'b', 'c']);
    await group.switchover('b');
    await group.ready('b');
  }

  first.members.find(({ node }) => node === 'b')?.agent.setHealth(false, 'disk full');
  await first.ready('c').catch(() => first.ready('elector'));

  second.members.find(({ node }) => node === 'b')?.agent.setHealth(false, 'disk full');
  const paused = await until(async () => (await second.config()).paused);
  expect(paused.by).toBe('the circuit breaker');
  expect(paused.reason).toContain(`after leadership of ${first.root} moved once within 10m`);
  expect((await second.elected()).node).toBe('b');
  const [last] = (await second.history()).toReversed();
  expect(last).toMatchObject({ kind: 'change', by: 'petrel', what: 'paused by the circuit breaker' });
  expect((await first.config()).paused).toBeNull();

  const at = new Date(Date.parse(paused.at) + 1).toISOString();
  await second.configure({ paused: null, resumed: { by: 'ops', reason: 'looked', at } });
  await until(async () => (await second.elected()).node !== 'b');
});

it('a circuit breaker whose record may not be written, or not be made, stops nobody', async () => {
  const zookeeper = await sharedZooKeeper();
  const record = `${uniqueRoot('circuit-breaker')}/circuit-breaker`;
  await using stranger = await Group.found(zookeeper);
  await stranger.store.create(record.slice(0, record.lastIndexOf('/')), Buffer.alloc(0), 'persistent');
  await stranger.store.create(record, Buffer.alloc(0), 'persistent');
  const readOnly = { permissions: 1, identity: { scheme: 'world', id: 'anyone' } };
  await stranger.store.setAcl(record, [readOnly], 'any');
  const parent = record.slice(0, record.lastIndexOf('/'));
  await stranger.store.setAcl(parent, [readOnly], 'any');

  for (const path of [record, `${parent}/another-circuit-breaker`]) {
    const settings = { circuitBreaker: { transitions: 3, record: path }, failback: 'manual' };
    await using group = await Group.found(zookeeper, settings);
    await group.startInOrder(['elector', 'b']);
    await group.switchover('b');
    await group.ready('b');
    group.members.find(({ node }) => node === 'b')?.agent.setHealth(false, 'disk full');
    await group.ready('elector');
    expect(group.members.map(({ ended }) => ended)).toEqual([null, null]);
  }
});
