import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/ports/clock.js';
import { Group, type Member } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { LossyWay } from '../support/lost-reply.js';
import { overlaps } from '../support/recording-workload.js';
import { until } from '../support/until.js';

const isClaim = (request: string) => request.includes('"status":"PROGRESS"');
const isReady = (request: string) => request.includes('"status":"READY"');
const isRegistration = (request: string) => request.includes('/nodes/b') && request.includes('"incarnation"');
/**
 * Whether the request creates the seat of `b`. A create contains only the prefix of the name, a read the
 * whole name.
 */
const isSeat = (request: string) => /\/election\/b-(?!-?\d)/.test(request);
const isRelease = (request: string) => {
  return request.includes('/leader/current') && isRegistration(request) && !request.includes('"status"');
};
const isElection = (request: string) => request.includes('"cause"') && !request.includes('"prepared"');

interface Fixture extends AsyncDisposable {
  readonly group: Group;
  readonly way: LossyWay;
  /** The member that leads. */
  readonly a: Member;
  /** The member whose replies are lost. */
  readonly b: Member;
}

async function fixture(sessionTimeoutMs = 6_000): Promise<Fixture> {
  const zooKeeper = await sharedZooKeeper();
  const way = await LossyWay.to(zooKeeper);
  const group = await Group.found(zooKeeper);
  const a = group.start('a');
  await group.ready('a');
  const b = group.start('b', { connect: way.address, sessionTimeoutMs });
  await b.joined();
  const end = async () => {
    await group[Symbol.asyncDispose]();
    await way[Symbol.asyncDispose]();
  };
  return { group, way, a, b, [Symbol.asyncDispose]: end };
}

async function seatsOf(group: Group, node: string): Promise<string[]> {
  return (await group.seats()).filter((name) => name.startsWith(`${node}-`));
}

describe('a reply that is lost', () => {
  it.each([
    ['registration', isRegistration],
    ['seat', isSeat],
  ])('to the making of the %s: it is found, and not made twice', async (_, matches) => {
    const zooKeeper = await sharedZooKeeper();
    await using way = await LossyWay.to(zooKeeper);
    await using group = await Group.found(zooKeeper);
    const lost = way.loseReplyTo(matches);
    const b = group.start('b', { connect: way.address });
    await lost;
    const made = matches === isSeat ? group.paths.election : group.paths.nodes;
    await until(async () => (await group.store.getChildren(made)).children.length === 1);
    await way.breakAndHeal();
    await b.joined();
    expect(await seatsOf(group, 'b')).toHaveLength(1);
    await group.ready('b');
    expect(await seatsOf(group, 'b')).toHaveLength(1);
  });

  it('to the claim: it is adopted, and its token led under once', async () => {
    await using all = await fixture();
    const { group, way, a, b } = all;
    const lost = way.loseReplyTo(isClaim);
    await group.switchover('b');
    await lost;
    const claimed = await claimOf(group, 'b');
    expect(b.recorded.runs).toEqual([]);
    await way.breakAndHeal();
    const ready = await group.ready('b');
    expect(ready.stat.czxid).toBe(claimed.stat.czxid);
    expect(b.recorded.of('takeover').map(({ context }) => context.fencingToken)).toEqual([
      claimed.stat.czxid,
    ]);
    expect(overlaps({ a: a.recorded, b: b.recorded })).toEqual([]);
  });

  it('to the claim of a node that has long written nothing: it is adopted with a lease of its own', async () => {
    await using all = await fixture(2_000);
    const { group, way, b } = all;
    const lastWriteAtMs = b.store.provenAliveAtMs();
    const outlivedAtMs = lastWriteAtMs + b.store.negotiatedTimeoutMs;
    await until(() => systemClock.monotonicMs() > outlivedAtMs);
    expect(b.store.provenAliveAtMs()).toBe(lastWriteAtMs);
    const lost = way.loseReplyTo(isClaim);
    await group.switchover('b');
    await lost;
    const claimed = await claimOf(group, 'b');
    await way.breakAndHeal();
    const { stat } = await group.ready('b');
    expect(stat.czxid).toBe(claimed.stat.czxid);
    expect((await group.elected()).failures).toEqual([]);
  });

  it('to the claim of a node that was outvoted meanwhile: it is released, and nothing was begun', async () => {
    await using all = await fixture();
    const { group, way, b } = all;
    const lost = way.loseReplyTo(isClaim);
    await group.switchover('b');
    await lost;
    await until(async () => (await group.current())?.node === 'b');
    await group.switchover('a');
    await until(async () => (await group.elected()).node === 'a');
    await way.breakAndHeal();
    await group.ready('a');
    expect(b.recorded.runs).toEqual([]);
  });

  it('to READY: it is settled by reading, and the takeover is not run again', async () => {
    await using all = await fixture();
    const { group, way, b } = all;
    const lost = way.loseReplyTo(isReady);
    await group.switchover('b');
    await lost;
    await until(async () => (await group.current())?.status === 'READY');
    expect(b.status.leads).toBe(false);
    await way.breakAndHeal();
    await group.ready('b');
    expect(b.recorded.runs.map(({ context }) => context.phase)).toEqual(['takeover']);
  });

  it('to giving the claim away: the next leader’s claim is not touched', async () => {
    await using all = await fixture();
    const { group, way, a, b } = all;
    await group.switchover('b');
    await group.ready('b');
    const lost = way.loseReplyTo(isRelease);
    await group.switchover('a');
    await lost;
    const { stat } = await group.ready('a');
    await way.breakAndHeal();
    await until(() => b.status.joined && b.status.stage === null);
    await group.switchover('b');
    await group.ready('b');
    expect(b.recorded.runs.map(({ context }) => context.phase)).toEqual(['takeover', 'release', 'takeover']);
    expect(a.recorded.of('takeover').at(-1)?.context.fencingToken).toBe(stat.czxid);
    expect(overlaps({ a: a.recorded, b: b.recorded })).toEqual([]);
  });

  it('to an election: it is not held again', async () => {
    const zooKeeper = await sharedZooKeeper();
    await using way = await LossyWay.to(zooKeeper);
    await using group = await Group.found(zooKeeper);
    const lost = way.loseReplyTo(isElection);
    group.start('b', { connect: way.address });
    await lost;
    await until(async () => (await group.elected()).node === 'b');
    await way.breakAndHeal();
    const { term } = await group.ready('b');
    expect(term).toBe(1);
    await until(async () => (await group.history()).length > 0);
    expect(await group.history()).toHaveLength(1);
  });
});

/** Waits until `node` owns the claim, and returns the claim. */
function claimOf(group: Group, node: string) {
  return until(async () => {
    const current = await group.current();
    return current?.node === node ? current : null;
  });
}
