import { describe, expect, it } from 'vitest';
import { Group, type Member } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { startProxy, type TcpProxy } from '../support/proxy.js';
import { overlaps } from '../support/recording-workload.js';
import { until } from '../support/until.js';

interface Cut {
  readonly group: Group;
  readonly way: TcpProxy;
  readonly a: Member;
}

/**
 * Cuts the leader off until its lease has ended, and reconnects it before its session ends. Returns once a
 * node has made a claim after the cut.
 */
async function cutOff({ group, way, a }: Cut, alsoUntil: () => boolean = () => true): Promise<void> {
  const before = (await group.current())?.stat.czxid ?? 0n;
  way.blackHole();
  await until(() => !a.status.leads && alsoUntil(), {
    timeoutMs: 20_000,
    describe: 'the lease of a to run out',
  });
  await way.heal();
  await until(async () => ((await group.current())?.stat.czxid ?? 0n) > before, { timeoutMs: 20_000 });
}

async function readyLeader(group: Group): Promise<string> {
  return await until(
    async () => {
      const current = await group.current();
      return current?.status === 'READY' && current.node === (await group.elected()).node
        ? current.node
        : null;
    },
    { timeoutMs: 20_000, describe: 'the elected node to be READY' },
  );
}

/**
 * Cuts `a` off repeatedly until another node leads. Returns the number of cuts. On a busy machine, the
 * elector itself may lose its connection, and then does not count a lease loss.
 */
async function cutOffUntilAnotherLeads(cut: Cut): Promise<number> {
  for (let leaseLosses = 1; leaseLosses < 12; leaseLosses++) {
    await cutOff(cut);
    if ((await readyLeader(cut.group)) !== 'a') return leaseLosses;
  }
  throw new Error('a is elected again and again');
}

function overlapsOf(group: Group): string[] {
  return overlaps(Object.fromEntries(group.members.map(({ node, recorded }) => [node, recorded])));
}

const oftenWithin = /^it lost its lease (twice|\d+ times) within 10m: .*the lease was not renewed/;

describe('a leader that is cut off again and again, and is back each time before its session ends', () => {
  it('has failed: the elector elects another', async () => {
    const zooKeeper = await sharedZooKeeper();
    await using way = await startProxy({ target: zooKeeper });
    await using group = await Group.found(zooKeeper);
    const elector = group.start('e', { priority: 0, sessionTimeoutMs: 8_000 });
    await elector.joined();
    const a = group.start('a', { connect: way.address, sessionTimeoutMs: 10_000 });
    await group.ready('a');
    await group.startInOrder(['b'], { sessionTimeoutMs: 8_000 });
    const leaseLosses = await cutOffUntilAnotherLeads({ group, way, a });
    expect(a.warnings).toContainEqual(expect.stringMatching(/^releasing: no connection|^lease expired/));
    expect(leaseLosses).toBeGreaterThan(1);
    const { failures, reason, cause } = await group.elected();
    expect(failures).toMatchObject([{ node: 'a', reason: expect.stringMatching(oftenWithin) }]);
    expect(reason).toContain(failures[0]?.reason);
    expect(cause).toBe('failure');
    const history = await until(async () => {
      const records = await group.history();
      return records.some((record) => record.kind === 'transition' && record.node === 'b') && records;
    });
    expect(history.at(-1)).toMatchObject({ node: 'b', previous: { node: 'a' }, cause: 'failure' });
    expect(overlapsOf(group)).toEqual([]);
  });

  it('leaves judging to the next elector, where it elects itself', async () => {
    const zooKeeper = await sharedZooKeeper();
    await using way = await startProxy({ target: zooKeeper });
    await using group = await Group.found(zooKeeper);
    const a = group.start('a', { connect: way.address, sessionTimeoutMs: 10_000 });
    await group.ready('a');
    await group.startInOrder(['b'], { sessionTimeoutMs: 8_000 });
    const leaseLosses = await cutOffUntilAnotherLeads({ group, way, a });
    expect(leaseLosses).toBeGreaterThan(1);
    expect((await group.elected()).failures).toMatchObject([
      { node: 'a', reason: expect.stringMatching(oftenWithin) },
    ]);
    expect((await group.elected()).by).toBe('b');
    expect(a.log).toContainEqual(
      expect.stringContaining('handing over the elector role for now: it lost its lease'),
    );
    await until(() => a.status.joined && !a.status.elector);
    expect(overlapsOf(group)).toEqual([]);
  });
});

it('leaders whose ensemble is away as a whole are in backoff for nothing', async () => {
  const zooKeeper = await sharedZooKeeper();
  await using way = await startProxy({ target: zooKeeper });
  await using group = await Group.found(zooKeeper);
  const behind = { connect: way.address, sessionTimeoutMs: 10_000 };
  const elector = group.start('e', { ...behind, priority: 0 });
  await elector.joined();
  const a = group.start('a', behind);
  await group.ready('a');
  await group.startInOrder(['b'], behind);
  for (let leaseLosses = 0; leaseLosses < 3; leaseLosses++) {
    const sinceMs = elector.store.inTouchSinceMs();
    await cutOff({ group, way, a }, () => elector.store.inTouchSinceMs() > sinceMs);
    expect(await readyLeader(group)).toBe('a');
  }
  // The history now contains the last return of `a`. So the elector has had the chance to elect another node.
  await until(async () => (await group.history()).length >= 4);
  expect(await group.elected()).toMatchObject({ node: 'a', term: 1, failures: [] });
  expect((await group.current())?.resumes).toMatchObject({
    lostLease: true,
    earlierAgoMs: [expect.any(Number), expect.any(Number)],
  });
});
