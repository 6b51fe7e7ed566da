import { expect, it } from 'vitest';
import { readGroup } from '../../src/group/view.js';
import { newGroup } from '../support/group.js';

it('T7 nodes that register later and exceed the size that is set are a problem of the group', async () => {
  await using group = await newGroup();
  await group.configure({ strategyOptions: { size: 1 } });
  await group.node('a1');
  const problems = async () => (await readGroup(group.access)).problems.map((one) => one.problem);
  expect(await problems()).not.toContainEqual(expect.stringContaining('strategyOptions.size'));
  await group.node('b1');
  expect((await problems()).join()).toContain(
    'strategyOptions.size: 1 is less than the number of registered nodes',
  );
});
