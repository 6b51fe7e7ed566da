import { expect, it } from 'vitest';
import { explain } from '../../src/group/explain.js';
import { readGroup } from '../../src/group/view.js';
import { groupPaths } from '../../src/model/paths.js';
import { builtInRules } from '../../strategies/index.js';
import { Group } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { overlaps } from '../support/recording-workload.js';

it('a group follows another to its node, and comes only when that is READY', async () => {
  const zookeeper = await sharedZooKeeper();
  await using db = await Group.found(zookeeper, { failback: 'manual' });
  await using backup = await Group.found(zookeeper, { affinity: { group: db.root } });
  await backup.startInOrder(['a', 'b']);
  const before = await readGroup({
    store: backup.store,
    paths: groupPaths(backup.root),
    rules: builtInRules,
  });
  expect(explain(before, before.newestChangeMs).choice).toMatchObject({ node: null });

  await db.startInOrder(['a', 'b']);
  await db.ready('a');
  await backup.ready('a');

  await db.switchover('b');
  await db.ready('b');
  await backup.ready('b');
  expect((await backup.elected()).cause).toBe('planned');
  expect(overlaps(Object.fromEntries(backup.members.map(({ node, recorded }) => [node, recorded])))).toEqual(
    [],
  );
});

it('two groups that never agree do not chase one another: the first of the two goes, and the other follows', async () => {
  const zookeeper = await sharedZooKeeper();
  await using one = await Group.found(zookeeper, { failback: 'manual' });
  await using other = await Group.found(zookeeper, { failback: 'manual' });
  const [first, second] = one.root < other.root ? [one, other] : [other, one];
  for (const group of [first, second]) {
    await group.startInOrder(['a', 'b']);
    await group.ready('a');
  }
  await second.configure({ affinity: { group: first.root, where: 'same-node' } });
  await first.configure({ affinity: { group: second.root, where: 'another-node' } });
  const before = await first.elected();

  await first.members.find(({ node }) => node === 'a')?.stop();
  await first.ready('b');
  await second.ready('b');
  expect(await first.elected()).toMatchObject({ node: 'b', term: before.term + 1 });
});
