import { expect, test } from 'vitest';
import { pathsOfSlot } from '../../src/model/paths.js';
import { type ClaimContent, claimSchema, type Elected, electedSchema } from '../../src/model/znodes.js';
import { isStoreError, type Stat } from '../../src/ports/store.js';
import { byHand, Group } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { until } from '../support/until.js';

type Claimed = ClaimContent & { readonly stat: Stat };

async function electedIn(group: Group, slot: number): Promise<Elected> {
  const { data } = await group.store.getData(pathsOfSlot(group.paths, slot).elected);
  return electedSchema.parse(JSON.parse(data.toString('utf8')));
}

async function claimIn(group: Group, slot: number): Promise<Claimed | null> {
  try {
    const { data, stat } = await group.store.getData(pathsOfSlot(group.paths, slot).current);
    return { ...claimSchema.parse(JSON.parse(data.toString('utf8'))), stat };
  } catch (error) {
    if (isStoreError(error, 'NO_NODE')) return null;
    throw error;
  }
}

/** Waits until all slots have READY leaders and the leaders' agents agree. Returns the leaders. */
async function readyIn(
  group: Group,
  slots: readonly number[],
  be: (nodes: string[]) => boolean = () => true,
) {
  return await until(
    async () => {
      const claims = await Promise.all(slots.map((slot) => claimIn(group, slot)));
      const ready = claims.filter((claim) => claim?.status === 'READY').filter((claim) => claim !== null);
      const isLeading = ready.every(({ node }, index) => {
        const { leads, slot } = group.members.findLast((one) => one.node === node)?.status ?? {};
        return leads === true && slot === slots[index];
      });
      return ready.length === slots.length && isLeading && be(ready.map(({ node }) => node)) ? ready : null;
    },
    { timeoutMs: 30_000, describe: `slots ${slots.join(', ')} to be READY` },
  );
}

const tokens = (claims: readonly Claimed[]) => claims.map(({ stat }) => stat.czxid);

test('three of five lead; one that dies is replaced alone, one slot is handed over, one is given up', async () => {
  const connectString = await sharedZooKeeper();
  await using group = await Group.found(connectString, { leaders: 3, failback: 'manual' });
  await group.startInOrder(['a', 'b', 'c', 'd', 'e']);
  const first = await readyIn(group, [1, 2, 3]);
  expect(new Set(first.map(({ node }) => node)).size).toBe(3);
  expect(new Set(tokens(first)).size).toBe(3);
  const [inFirst, inSecond, inThird] = first;
  const member = (node = '') => group.members.find((one) => one.node === node);
  expect(member(inSecond?.node)?.recorded.runs.map(({ context }) => context.slot)).toEqual([2]);

  await member(inSecond?.node)?.expire(connectString);
  const second = await readyIn(group, [1, 2, 3], ([, node]) => node !== inSecond?.node);
  expect([second[0], second[2]].map((claim) => claim?.stat.czxid)).toEqual(
    tokens([first[0], first[2]].filter((claim) => claim !== undefined)),
  );
  expect(second[1]?.stat.czxid).toBeGreaterThan(inSecond?.stat.czxid ?? 0n);

  const [free] = ['a', 'b', 'c', 'd', 'e'].filter((node) => !second.some((claim) => claim.node === node));
  const { term } = await electedIn(group, 3);
  await group.configure({
    switchover: { to: { node: free }, replacesTerm: term, slot: 3, ...byHand('maintenance') },
  });
  const third = await readyIn(group, [1, 2, 3], ([, , node]) => node === free);
  expect(third[0]?.node).toBe(inFirst?.node);
  expect(third[2]?.term).toBe((inThird?.term ?? 0) + 1);

  await group.configure({ leaders: 2, switchover: null });
  await until(async () => (await claimIn(group, 3)) === null && (await electedIn(group, 1)).slots === 2);
  expect(await electedIn(group, 3)).toMatchObject({ node: null, cause: 'planned' });
  const last = await readyIn(group, [1, 2]);
  expect(tokens(last)).toEqual(tokens(third.slice(0, 2)));
  const records = (await group.history()).filter((record) => record.kind === 'transition');
  expect(records.filter(({ slot }) => slot === 2).map(({ outcome }) => outcome)).toEqual(['READY', 'READY']);
});

test('a group of one leader becomes one of two and one again, and its znodes are as they were', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  await group.startInOrder(['a', 'b', 'c']);
  const alone = await group.ready('a');
  const before = await electedIn(group, 1);
  expect(before).not.toHaveProperty('slots');
  await group.configure({ leaders: 2 });
  await readyIn(group, [1, 2]);
  await group.configure({ leaders: 1 });
  await until(async () => (await electedIn(group, 1)).slots === undefined);
  expect(await electedIn(group, 1)).toEqual(before);
  expect((await group.current())?.stat.czxid).toBe(alone.stat.czxid);
  expect(await claimIn(group, 2)).toBeNull();
});

test('a decision that cannot be read before there is any: the znodes of all slots are made, and their leaders found', async () => {
  await using group = await Group.found(await sharedZooKeeper(), { leaders: 2 });
  await group.store.set(group.paths.elected, Buffer.from('{"node":'), 'any');
  await group.startInOrder(['a', 'b']);
  await readyIn(group, [1, 2]);
});
