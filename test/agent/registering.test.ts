import { expect, it } from 'vitest';
import { Group } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { until } from '../support/until.js';

it('a text too long to keep is cut, written once, and holds up no election', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  const [a] = await group.startInOrder(['a']);
  await group.ready('a');
  a?.agent.setHealth(false, 'x'.repeat(10_000));
  await until(async () => (await group.elected()).node === null);
  await until(async () => (await group.current()) === null);
  a?.agent.setHealth(true, 'y'.repeat(10_000));
  await group.ready('a');
  const written = async () => (await group.store.exists(group.paths.node('a')))?.version ?? 0;
  const before = await written();
  expect((await group.store.getData(group.paths.node('a'))).data.length).toBeLessThan(5000);
  await group.startInOrder(['b']);
  await group.switchover('b');
  await group.ready('b');
  // One for the release, one for the claim given away.
  expect((await written()) - before).toBeLessThanOrEqual(3);
});
