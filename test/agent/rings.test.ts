/** Agents that tell whom they elect, beside one that does not know of that. */
import { expect, it } from 'vitest';
import { encode } from '../../src/agent/membership.js';
import { Group } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { until } from '../support/until.js';

/** As an agent of an earlier version joins. */
async function joinAsBefore(group: Group, node: string): Promise<void> {
  const { data } = await group.store.getData(group.paths.node('a'));
  const { rings: _, ...registration } = JSON.parse(data.toString('utf8'));
  const own = encode({ ...registration, node, incarnation: 'earlier', priority: 0 });
  await group.store.create(group.paths.node(node), own, 'ephemeral');
  await group.store.create(group.paths.seatPrefix(node), Buffer.from(node), 'ephemeral-sequential');
}

it('nobody relies on being told while one with a seat may not tell, which is said as soon as he is there', async () => {
  await using group = await Group.found(await sharedZooKeeper(), { failback: 'manual' });
  await group.startInOrder(['a', 'b']);
  const before = await group.ready('a');
  expect((await group.elected()).rings).toBe(true);
  await joinAsBefore(group, 'earlier');
  const { node, term } = await until(async () => {
    const elected = await group.elected();
    return elected.rings === true ? null : elected;
  });
  expect({ node, term }).toEqual({ node: 'a', term: 1 });
  await group.switchover('b');
  await group.ready('b');
  expect((await group.elected()).rings).toBe(false);
  expect(before.term).toBe(1);
  await group.store.close();
});

it('a decision by one that does not tell is heard by a node that came after he had', async () => {
  await using group = await Group.found(await sharedZooKeeper(), { failback: 'manual' });
  const [a] = await group.startInOrder(['a']);
  await group.ready('a');
  await joinAsBefore(group, 'earlier');
  await until(async () => (await group.elected()).rings !== true);
  await group.startInOrder(['b', 'c']);
  await group.switchover('b');
  await group.ready('b');
  // Whoever sits first from now on decides nothing; what it would is written in its place.
  await a?.stop();
  const { version, ...elected } = await group.elected();
  const decision = encode({ ...elected, node: 'c', term: elected.term + 1, rings: undefined });
  await group.store.set(group.paths.elected, decision, version);
  await group.ready('c', 9_000);
});
