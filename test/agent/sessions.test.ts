import { expect, it } from 'vitest';
import { systemClock } from '../../src/ports/clock.js';
import { Group, type Member } from '../support/agent-group.js';
import { sharedZooKeeper, startZooKeeper } from '../support/ensemble.js';
import { startProxy } from '../support/proxy.js';
import { overlaps } from '../support/recording-workload.js';
import { startStopwatch } from '../support/stopwatch.js';
import { until } from '../support/until.js';

/**
 * Returns a list that receives the fencing token of each leadership that the member reports, oldest first.
 */
function tokensOf(member: Member): bigint[] {
  const tokens: bigint[] = [];
  member.agent.onStatus(({ leads, fencingToken }) => {
    if (leads && fencingToken !== null && tokens.at(-1) !== fencingToken) tokens.push(fencingToken);
  });
  return tokens;
}

it('P01 a claim of a session that is over never makes a leader, though its znode still stands', async () => {
  await using server = await startZooKeeper();
  await using group = await Group.found(server.connectString);
  const [a, b] = await group.startInOrder(['a', 'b'], { sessionTimeoutMs: 6000 });
  if (a === undefined || b === undefined) throw new Error('two nodes');
  const first = await group.ready('a');
  const [seat] = (await group.seats()).filter((name) => name.startsWith('a-'));
  const lost = a.store;
  await server.kill9();
  await until(() => lost.state === 'LOST' && a.stores.length > 1);
  expect(a.status.leads).toBe(false);
  const tokens = tokensOf(a);
  await server.restart();
  // A restarted server grants every session its whole timeout again, so the old claim remains for some time.
  await using view = await Group.found(server.connectString, {}, group.root);
  const old = await view.current();
  expect(old?.stat.ephemeralOwner).toBe(first.stat.ephemeralOwner);
  await until(async () => (await view.current())?.stat.ephemeralOwner !== old?.stat.ephemeralOwner);
  expect(tokens).not.toContain(first.stat.czxid);
  const next = await until(async () => {
    const current = await view.current();
    const leaders = [a, b].filter(({ status }) => status.leads);
    const [leader] = leaders;
    const isOwner = leader?.store.sessionId === current?.stat.ephemeralOwner;
    return current?.status === 'READY' && leaders.length === 1 && isOwner ? current : null;
  });
  expect(next.stat.czxid).toBeGreaterThan(first.stat.czxid);
  expect(await view.seats()).not.toContain(seat);
  expect(overlaps({ a: a.recorded, b: b.recorded })).toEqual([]);
});

it('P19 a new session takes its own old registration over, and stays listed when the old session ends', async () => {
  await using server = await startZooKeeper();
  await using group = await Group.found(server.connectString);
  const a = group.start('a', { sessionTimeoutMs: 6000 });
  await group.ready('a');
  const old = a.store;
  await server.kill9();
  await until(() => old.state === 'LOST');
  await server.restart();
  await a.joined();
  const registration = await until(async () => {
    const stat = await a.store.exists(group.paths.node('a'));
    return stat?.ephemeralOwner === a.store.sessionId ? stat : null;
  });
  const seatsOf = async () => (await a.store.getChildren(group.paths.election)).children;
  // The old seat disappears with the old session.
  await until(async () => (await seatsOf()).length === 1);
  expect((await a.store.exists(group.paths.node('a')))?.czxid).toBe(registration.czxid);
  await until(() => a.status.leads);
});

it('P07 a node that was out of touch while it was elected claims as soon as it is back', async () => {
  await using proxy = await startProxy({ target: await sharedZooKeeper() });
  await using group = await Group.found(await sharedZooKeeper());
  await group.startInOrder(['a']);
  const b = group.start('b', { connect: proxy.address });
  await group.ready('a');
  await b.joined();
  const { sessionId } = b.store;
  proxy.refuse();
  proxy.resetAll();
  await until(() => b.store.state === 'SUSPENDED');
  await group.switchover('b');
  await until(async () => (await group.elected()).node === 'b' && (await group.current()) === null);
  expect(b.recorded.runs).toEqual([]);
  await proxy.heal();
  await until(() => b.store.state === 'CONNECTED');
  const { term } = await group.elected();
  expect((await group.ready('b', 8_000)).term).toBe(term);
  expect(b.store.sessionId).toBe(sessionId);
});

it('P07 a candidate that was out of touch when the claim became free claims as soon as it is back', async () => {
  await using proxy = await startProxy({ target: await sharedZooKeeper() });
  await using group = await Group.found(await sharedZooKeeper());
  const [a] = await group.startInOrder(['a']);
  const b = group.start('b', { connect: proxy.address });
  await group.ready('a');
  await b.joined();
  let release = () => {};
  if (a === undefined) throw new Error('one node');
  a.recorded.does('release', () => new Promise((resolve) => (release = resolve)));
  await group.switchover('b');
  await until(() => a.recorded.of('release').length === 1);
  proxy.refuse();
  proxy.resetAll();
  await until(() => b.store.state === 'SUSPENDED');
  release();
  await until(async () => (await group.current()) === null);
  await proxy.heal();
  await until(() => b.store.state === 'CONNECTED');
  await group.ready('b', 8_000);
});

it('P14 a standby whose session ends while it waits is back long before it is needed', async () => {
  const zooKeeper = await sharedZooKeeper();
  await using group = await Group.found(zooKeeper);
  const [a, b] = await group.startInOrder(['a', 'b']);
  if (a === undefined || b === undefined) throw new Error('two nodes');
  await group.ready('a');
  const { sessionId } = b.store;
  await b.expire(zooKeeper);
  await until(async () => {
    const owner = (await group.store.exists(group.paths.node('b')))?.ephemeralOwner;
    return owner !== undefined && owner !== sessionId && b.status.joined;
  });
  await a.abandon();
  const current = await group.ready('b');
  expect(current.stat.ephemeralOwner).toBe(b.store.sessionId);
  expect((await group.seats()).length).toBe(1);
});

it('P18 a leader that loses its connection for a moment goes on leading under the same token', async () => {
  await using proxy = await startProxy({ target: await sharedZooKeeper() });
  await using group = await Group.found(await sharedZooKeeper());
  const a = group.start('a', { connect: proxy.address });
  const { stat } = await group.ready('a');
  const heard: boolean[] = [];
  a.agent.onStatus(({ leads }) => heard.push(leads));
  for (let cut = 0; cut < 5; cut++) {
    const { accepted } = proxy;
    proxy.resetAll();
    await until(() => proxy.accepted > accepted && a.store.state === 'CONNECTED');
  }
  expect(a.status).toMatchObject({ leads: true, fencingToken: stat.czxid });
  expect(heard).not.toContain(false);
  expect(a.recorded.of('release')).toEqual([]);
});

it('P18 a leader out of touch stops by its lease, and a standby takes over', async () => {
  await using proxy = await startProxy({ target: await sharedZooKeeper() });
  await using group = await Group.found(await sharedZooKeeper());
  const a = group.start('a', { connect: proxy.address, sessionTimeoutMs: 3000 });
  await group.ready('a');
  const [b] = await group.startInOrder(['b']);
  proxy.blackHole();
  await group.ready('b');
  expect(a.status.leads).toBe(false);
  const [release] = a.recorded.of('release');
  const [takeover] = b?.recorded.of('takeover') ?? [];
  expect(release?.endedAtMs).toBeLessThan(takeover?.startedAtMs ?? 0);
  await proxy.heal();
  await a.joined();
  expect((await group.current())?.node).toBe('b');
});

it('a lease is renewed as soon as the connection stands again, not at the next turn', async () => {
  await using proxy = await startProxy({ target: await sharedZooKeeper() });
  await using group = await Group.found(await sharedZooKeeper());
  const a = group.start('a', { connect: proxy.address, sessionTimeoutMs: 48_000 });
  await group.ready('a');
  await until(() => (a.status.lease?.endsAtMs ?? 0) > a.recorded.leases.length);
  const { accepted } = proxy;
  const before = a.recorded.leases.at(-1)?.endsAtMs ?? 0;
  proxy.resetAll();
  await until(() => proxy.accepted > accepted && a.store.state === 'CONNECTED');
  const sinceBack = startStopwatch();
  await until(() => (a.recorded.leases.at(-1)?.endsAtMs ?? 0) > before);
  // A lease is renewed every 4 s.
  expect(sinceBack.ms).toBeLessThan(2000);
});

it('P23 a second agent with a name that is in use is refused, and the first one is not disturbed', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  const first = group.start('a');
  await group.ready('a');
  const second = group.start('a');
  const ended = await until(() => second.ended);
  expect(ended.error).toMatchObject({ code: 'DUPLICATE_NODE' });
  expect(first.status.leads).toBe(true);
  expect(first.ended).toBeNull();
});

it('P28 agents that start before their ensemble all join', async () => {
  await using server = await startZooKeeper();
  await using group = await Group.found(server.connectString);
  await server.kill9();
  const members = ['a', 'b', 'c'].map((node) => group.start(node));
  await until(() => members.every(({ stores }) => stores.length === 1));
  await server.restart();
  await Promise.all(members.map((member) => member.joined()));
  await until(() => group.members.some(({ status }) => status.leads));
});

it('P65 a wall clock that jumps changes nothing but what people read', async () => {
  let skewMs = 0;
  const clock = { ...systemClock, wallMs: () => systemClock.wallMs() + skewMs };
  await using group = await Group.found(await sharedZooKeeper(), { backoff: { base: '1s', max: '1s' } });
  const [a, b] = await group.startInOrder(['a', 'b'], { clock, sessionTimeoutMs: 9000 });
  if (a === undefined || b === undefined) throw new Error('two nodes');
  const { stat } = await group.ready('a');
  for (const hours of [1, -1]) {
    skewMs = hours * 3_600_000;
    const renewed = a.recorded.leases.length + 3;
    await until(() => a.recorded.leases.length >= renewed);
  }
  expect(a.status).toMatchObject({ leads: true, fencingToken: stat.czxid });
  b.recorded.does('takeover', () => Promise.reject(new Error('no disk')));
  await group.switchover('b');
  await until(async () => (await group.elected()).failures.some(({ node }) => node === 'b'));
  await group.ready('a');
  skewMs = 3_600_000;
  b.recorded.does('takeover', () => {});
  // The backoff of `b` lasts a second on the ensemble's clock, regardless of the clock of this machine.
  await until(async () => {
    await group.switchover('b');
    return (await group.elected()).node === 'b';
  });
  await group.ready('b');
});

it('P69 a leader whose workload ends while nothing is answered says so at once, and releases at once', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  await using proxy = await startProxy({ target: await sharedZooKeeper() });
  const a = group.start('a', { connect: proxy.address, sessionTimeoutMs: 9000 });
  await group.ready('a');
  await until(() => a.status.leads);
  proxy.blackHole();
  a.recorded.endWorkload('it crashed');
  expect(a.status.leads).toBe(false);
  await until(() => a.recorded.of('release').length > 0);
  expect(a.store.state).toBe('CONNECTED');
});
