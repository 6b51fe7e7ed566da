import { expect, test } from 'vitest';
import { Group } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { overlaps } from '../support/recording-duty.js';
import { until } from '../support/until.js';

test('the first node leads, and hands over when it leaves', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  const [a, b] = await group.startInOrder(['a', 'b']);
  const first = await group.ready('a');
  await a?.stop();
  const second = await group.ready('b');
  expect(second.term).toBeGreaterThan(first.term);
  expect(second.stat.czxid).toBeGreaterThan(first.stat.czxid);
  expect(a?.ended).toEqual({ error: null });
  if (a === undefined || b === undefined) return;
  expect(overlaps({ a: a.recorded, b: b.recorded })).toEqual([]);
  await until(async () => (await group.history()).length === 2);
});
