/** The number of requests that a group sends to its ensemble, as counted by the server. */
import { describe, expect, it } from 'vitest';
import { usualElectorWatchdogMs } from '../../src/agent/session/sharing.js';
import type { Store } from '../../src/ports/store.js';
import { type DevelopmentServer, type SessionTraffic, startDevelopmentServer } from '../../src/testing.js';
import { Group, type Member } from '../support/agent-group.js';
import { until } from '../support/until.js';
import { JumpingClock } from '../zookeeper/jumping-clock.js';

type Traffic = ReadonlyMap<bigint, SessionTraffic>;
type Operation = keyof SessionTraffic['requests'];

const writes: readonly Operation[] = ['create', 'create2', 'delete', 'setData', 'multi'];

/** Returns the number of requests from one session, excluding pings and the operations in `except`. */
function requestsOf(traffic: Traffic, session: bigint, except: readonly Operation[] = []): number {
  const { requests = {} } = traffic.get(session) ?? {};
  const { ping: _, ...others } = requests;
  return Object.entries(others)
    .filter(([operation]) => !except.some((other) => other === operation))
    .reduce((sum, [, count]) => sum + count, 0);
}

function writesIn(traffic: Traffic): number {
  return [...traffic.values()]
    .flatMap(({ requests }) => writes.map((operation) => requests[operation] ?? 0))
    .reduce((sum, count) => sum + count, 0);
}

/** Waits until the group sends nothing but lease renewals of `leader`. Returns the traffic so far. */
async function quiet(server: DevelopmentServer, leader: Store): Promise<Traffic> {
  const total = (traffic: Traffic) => {
    return [...traffic.keys()].reduce(
      (sum, id) => sum + requestsOf(traffic, id, id === leader.sessionId ? ['multi'] : []),
      0,
    );
  };
  let before: Traffic | null = null;
  return await until(
    () => {
      const now = server.requestCounts();
      const isQuiet = before !== null && total(now) === total(before);
      before = now;
      return isQuiet ? now : null;
    },
    { timeoutMs: 30_000, intervalMs: 400, describe: 'a quiet group' },
  );
}

/** Returns everything below `path`: the content of each znode, and the change that produced it. */
async function dump(store: Store, path: string): Promise<string[]> {
  const { data, stat } = await store.getData(path);
  const { children } = await store.getChildren(path);
  const below = await Promise.all(children.toSorted().map((name) => dump(store, `${path}/${name}`)));
  return [`${path} ${stat.mzxid} ${stat.pzxid} ${data.toString('utf8')}`, ...below.flat()];
}

describe('two hundred nodes', () => {
  it('P60 a switchover concerns four, and when one leaves that neither leads nor elects, at most three send anything', async () => {
    await using server = await startDevelopmentServer();
    await using group = await Group.found(server.connectString);
    await group.startInOrder(['elector']);
    const members = Array.from({ length: 199 }, (_, index) => group.start(`n${index}`));
    await Promise.all(members.map((member) => member.joined()));
    await group.ready('elector', 30_000);
    await group.switchover('n5');
    await group.ready('n5');
    // Every node reads the group now, so that none makes its periodic check while the test counts.
    await Promise.all(members.map(look));
    const beforeSwitch = await quiet(server, storeOf(members[5]));
    await group.switchover('n7');
    await group.ready('n7');
    const leader = storeOf(members[7]);
    const before = await quiet(server, leader);
    // n0 is the next elector, so it is notified of the same changes as the elector.
    const concerned = ['elector', 'n0', 'n5', 'n7'];
    for (const { node, store } of members.filter((member) => !concerned.includes(member.node))) {
      const { sessionId } = store;
      const notifications = notificationsOf(before, sessionId) - notificationsOf(beforeSwitch, sessionId);
      const requests = requestsOf(before, sessionId) - requestsOf(beforeSwitch, sessionId);
      expect({ node, notifications, requests }).toEqual({ node, notifications: 0, requests: 0 });
    }
    await Promise.all(members.map(look));
    const beforeLeaving = await quiet(server, leader);
    const leaver = storeOf(members[100]);
    await leaver.close();
    await until(async () => (await group.store.exists(group.paths.node('n100'))) === null);
    const after = await quiet(server, leader);
    const busy = [...after.keys()].filter((id) => {
      if (id === leaver.sessionId || id === group.store.sessionId) return false;
      const except: Operation[] = id === leader.sessionId ? ['multi'] : [];
      return requestsOf(after, id, except) > requestsOf(beforeLeaving, id, except);
    });
    const notifications = [...after.keys()].filter((id) => {
      return id !== leaver.sessionId && notificationsOf(after, id) > notificationsOf(beforeLeaving, id);
    });
    expect(busy.length).toBeGreaterThan(0);
    expect(busy.length).toBeLessThanOrEqual(3);
    expect(notifications.length).toBeLessThanOrEqual(3);
  });
});

it('a group in which nothing happens writes nothing, and its leader renews its lease', async () => {
  await using server = await startDevelopmentServer();
  await using group = await Group.found(server.connectString);
  const [a] = await group.startInOrder(['a', 'b', 'c']);
  await group.ready('a');
  const leader = storeOf(a);
  const before = await quiet(server, leader);
  const tree = await dump(group.store, group.root);
  const renewals = before.get(leader.sessionId)?.requests.multi ?? 0;
  await until(() => (server.requestCounts().get(leader.sessionId)?.requests.multi ?? 0) >= renewals + 6);
  const after = server.requestCounts();
  expect(await dump(group.store, group.root)).toEqual(tree);
  for (const [id, { requests }] of after) {
    for (const operation of writes) {
      if (id === leader.sessionId && operation === 'multi') continue;
      expect(requests[operation] ?? 0).toBe(before.get(id)?.requests[operation] ?? 0);
    }
  }
});

it('a leader that has nothing to do looks no oftener than another node: its lease is renewed without that', async () => {
  await using server = await startDevelopmentServer();
  await using group = await Group.found(server.connectString);
  const [a] = await group.startInOrder(['a', 'b', 'c']);
  await group.ready('a');
  const leader = storeOf(a);
  const before = await quiet(server, leader);
  const renewals = before.get(leader.sessionId)?.requests.multi ?? 0;
  await until(() => (server.requestCounts().get(leader.sessionId)?.requests.multi ?? 0) >= renewals + 15);
  const readsIn = (traffic: Traffic) => requestsOf(traffic, leader.sessionId, ['multi']);
  // The periodic check of the group may fall into the measured time.
  expect(readsIn(server.requestCounts()) - readsIn(before)).toBeLessThanOrEqual(11);
});

it('a planned switchover costs two committed writes and one notification between the hooks', async () => {
  await using server = await startDevelopmentServer();
  await using group = await Group.found(server.connectString);
  const marks: { readonly phase: string; readonly traffic: Traffic }[] = [];
  const mark = ({ phase }: { readonly phase: string }) => {
    marks.push({ phase, traffic: server.requestCounts() });
  };
  // The next elector is notified of the same changes as the elector, so it must not be `a` or `b`.
  const others = [await started(group, 'elector'), await started(group, 'next')];
  const members = [...others, await started(group, 'a'), await started(group, 'b')];
  for (const { recorded } of members) {
    recorded.does('release', mark);
    recorded.does('takeover', mark);
  }
  const costs: { readonly written: number; readonly notifications: number }[] = [];
  for (const to of ['a', 'b', 'a', 'b', 'a']) {
    await group.switchover(to);
    await group.ready(to);
    const [released, taken] = marks.slice(-2);
    if (released?.phase !== 'release' || taken?.phase !== 'takeover') throw new Error('not a handover');
    const { sessionId } = storeOf(members.find(({ node }) => node === to));
    costs.push({
      written: writesIn(taken.traffic) - writesIn(released.traffic),
      notifications: notificationsOf(taken.traffic, sessionId) - notificationsOf(released.traffic, sessionId),
    });
  }
  // A renewal of the old leader's lease may fall between the two hooks. It cannot do so every time.
  expect(costs.toSorted((a, b) => a.written - b.written)[2]).toEqual({ written: 2, notifications: 1 });
});

it('a planned switchover takes the elector seven rounds at most, and those that lead six', async () => {
  await using server = await startDevelopmentServer();
  await using group = await Group.found(server.connectString);
  const members = [await started(group, 'elector'), await started(group, 'a'), await started(group, 'b')];
  await group.switchover('b');
  await group.ready('b');
  const rounds = new Map(members.map(({ node }) => [node, 0]));
  for (const { node, agent } of members) {
    agent.onEvent(({ kind }) => {
      if (kind === 'round') rounds.set(node, (rounds.get(node) ?? 0) + 1);
    });
  }
  const switchovers = ['a', 'b', 'a', 'b', 'a', 'b'];
  for (const to of switchovers) {
    await group.switchover(to);
    await group.ready(to);
  }
  const each = (node: string) => (rounds.get(node) ?? 0) / switchovers.length;
  expect(each('elector')).toBeGreaterThan(0);
  expect(each('elector')).toBeLessThanOrEqual(7);
  expect(each('a')).toBeLessThanOrEqual(6);
  expect(each('b')).toBeLessThanOrEqual(6);
});

describe('a look that finds nothing new', () => {
  it('costs the elector no read, and the last in line three', async () => {
    await using server = await startDevelopmentServer();
    await using group = await Group.found(server.connectString);
    const [elector, , last] = await group.startInOrder(['elector', 'second', 'last']);
    await group.ready('elector');
    await quiet(server, storeOf(elector));
    expect(await cheapestLook(server, elector)).toEqual({ data: 0, existence: 0, children: 0 });
    expect(await cheapestLook(server, last)).toEqual({ data: 3, existence: 0, children: 0 });
  });

  it('costs the next elector none, also when it sees whether the elector decides', async () => {
    await using server = await startDevelopmentServer();
    await using group = await Group.found(server.connectString);
    const clock = new JumpingClock();
    const elector = await started(group, 'elector');
    const second = group.start('second', { clock });
    await second.joined();
    await started(group, 'last');
    await group.ready('elector');
    await quiet(server, storeOf(elector));
    const audit = await cheapestLook(server, second, () => clock.jump(usualElectorWatchdogMs));
    expect(audit).toEqual({ data: 0, existence: 0, children: 0 });
  });
});

interface Reads {
  readonly data: number;
  readonly existence: number;
  readonly children: number;
}

/**
 * Wakes a node three times, although nothing has changed. Returns the reads of the cheapest round, because
 * other events may have caused reads in some rounds.
 */
async function cheapestLook(
  server: DevelopmentServer,
  member: Member | undefined,
  before = () => {},
): Promise<Reads | undefined> {
  const looks: Reads[] = [];
  for (let look = 0; look < 3; look++) {
    before();
    looks.push(await lookOf(server, member));
  }
  const sum = ({ data, existence, children }: Reads) => data + existence + children;
  return looks.toSorted((a, b) => sum(a) - sum(b))[0];
}

async function lookOf(server: DevelopmentServer, member: Member | undefined): Promise<Reads> {
  const { sessionId } = storeOf(member);
  const before = readsOf(server.requestCounts(), sessionId);
  if (member !== undefined) await look(member);
  const after = readsOf(server.requestCounts(), sessionId);
  return {
    data: after.data - before.data,
    existence: after.existence - before.existence,
    children: after.children - before.children,
  };
}

/** Wakes the node although nothing has changed, and waits for its next round. */
async function look({ agent }: Member): Promise<void> {
  await new Promise<void>((resolve) => {
    agent.onEvent(({ kind }) => {
      if (kind === 'round') resolve();
    });
    agent.setHealth(true, null);
  });
}

function readsOf(traffic: Traffic, session: bigint): Reads {
  const { getData = 0, exists = 0, getChildren2 = 0 } = traffic.get(session)?.requests ?? {};
  return { data: getData, existence: exists, children: getChildren2 };
}

async function started(group: Group, node: string): Promise<Member> {
  const member = group.start(node);
  await member.joined();
  return member;
}

function storeOf(member: Member | undefined): Store {
  if (member === undefined) throw new Error('no such member');
  return member.store;
}

function notificationsOf(traffic: Traffic, session: bigint): number {
  return traffic.get(session)?.notifications ?? 0;
}
