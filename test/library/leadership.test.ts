import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { successorSchema } from '../../src/model/znodes.js';
import { Group } from '../support/agent-group.js';
import { sharedZooKeeper } from '../support/ensemble.js';
import { LibraryNode, untilAborted } from '../support/node.js';
import { startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';

interface Seen {
  readonly listener: string;
  readonly leads: boolean;
  readonly statusLeads: boolean;
  readonly held: boolean;
  readonly aborted: boolean;
}

/** Records what every kind of listener observes when the leadership ends. */
function watchEnd(node: LibraryNode): Seen[] {
  const seen: Seen[] = [];
  const { petrel } = node;
  const { leadership, signal } = node.last;
  const look = (listener: string) => {
    const { leads: statusLeads } = petrel.status;
    seen.push({ listener, leads: petrel.leads, statusLeads, held: leadership.held, aborted: signal.aborted });
  };
  signal.addEventListener('abort', () => look('signal'));
  petrel.on('follower', () => look('follower'));
  petrel.on('status', (status) => {
    if (!status.leads) look('status');
  });
  return seen;
}

const over = { leads: false, statusLeads: false, held: false, aborted: true };

const causes: Readonly<Record<string, (node: LibraryNode, group: Group) => Promise<unknown>>> = {
  'a planned handover': (_, group) => group.switchover('b'),
  'an expired session': (node) => node.expire(),
  'a claim that somebody deleted': (_, group) => group.store.delete(group.paths.current, 'any'),
  'leaving the group': (node) => node.petrel.close(),
  'bad health': async (node) => node.petrel.setHealth(false, 'disk full'),
};

describe('P09 leadership reads false, and the signal has fired, before anybody hears', () => {
  it.each(Object.keys(causes))('P09 after %s', async (cause) => {
    await using group = await Group.found(await sharedZooKeeper());
    await using a = await LibraryNode.join(group, 'a');
    await using b = await LibraryNode.join(group, 'b');
    a.lead();
    await a.leads();
    b.lead();
    const seen = watchEnd(a);
    await causes[cause]?.(a, group);
    // Either node may lead next. For example, `a` makes a new claim if only its claim was deleted.
    await until(() =>
      [a, b].some(({ leaderships }) => leaderships.length > (leaderships === a.leaderships ? 1 : 0)),
    );
    await until(() => seen.some(({ listener }) => listener === 'follower'));
    expect(seen.map(({ listener }) => listener)).toContain('signal');
    for (const { listener, ...found } of seen) expect({ listener, ...found }).toEqual({ listener, ...over });
  });

  it('P09 after the lease ran out', async () => {
    await using proxy = await startProxy({ target: await sharedZooKeeper() });
    await using group = await Group.found(await sharedZooKeeper());
    await using a = await LibraryNode.join(group, 'a', { zookeeper: proxy.address, sessionTimeout: '4s' });
    a.lead();
    await a.leads();
    const seen = watchEnd(a);
    const token = a.last.leadership.fencingToken;
    proxy.blackHole();
    await until(() => seen.length >= 3);
    for (const { listener, ...found } of seen) expect({ listener, ...found }).toEqual({ listener, ...over });
    await proxy.heal();
    await a.leads();
    expect(a.last.leadership.fencingToken).toBeGreaterThan(token);
  });

  it('P09 after the work function returned on its own', async () => {
    await using group = await Group.found(await sharedZooKeeper(), { backoff: { base: '1s', max: '1s' } });
    await using a = await LibraryNode.join(group, 'a');
    let end = () => {};
    a.lead({ work: () => new Promise((resolve) => (end = resolve)) });
    await a.leads();
    const seen = watchEnd(a);
    end();
    await until(() => seen.some(({ listener }) => listener === 'follower'));
    for (const { listener, ...found } of seen) expect({ listener, ...found }).toEqual({ listener, ...over });
  });
});

it('P10 a process that stood still past its lease does not say that it leads, not even once', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  await using a = await LibraryNode.join(group, 'a', { sessionTimeout: '5s' });
  a.lead();
  await a.leads();
  const { leadership, signal } = a.last;
  await until(async () => (await group.history()).length >= 1);
  const lies: unknown[] = [];
  a.petrel.on('status', (status) => {
    if (status.leads && a.last.signal.aborted) lies.push(status);
  });
  standStill(5000);
  expect(a.petrel.leads).toBe(false);
  expect(leadership.held).toBe(false);
  await until(() => signal.aborted);
  expect(a.petrel.leads).toBe(false);
  await a.leads();
  expect(a.last.leadership.fencingToken).toBeGreaterThan(leadership.fencingToken);
  expect(lies).toEqual([]);
  await until(async () => (await group.history()).length > 1);
  const again = (await group.history()).at(-1);
  expect(again).toMatchObject({
    resumes: { token: String(leadership.fencingToken), reason: expect.stringContaining('not renewed') },
    cause: 'retry',
  });
});

function standStill(forMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs);
}

it('a status has a lease only while the node has a leadership', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  await using a = await LibraryNode.join(group, 'a');
  expect(a.petrel.status.lease).toBeNull();
  a.lead();
  await a.leads();
  expect(a.petrel.status.lease).toEqual({ endsAtMs: expect.any(Number), releaseAtMs: expect.any(Number) });
  a.petrel.setHealth(false, 'disk full');
  await until(() => a.petrel.status.stage === null);
  expect(a.petrel.status.lease).toBeNull();
});

/** An unhandled rejection would fail the test run. */
it.each([
  ['throws', false],
  ['is async and rejects', true],
])('A11 a listener that %s keeps nobody from hearing, and leadership from ending', async (_, isAsync) => {
  await using group = await Group.found(await sharedZooKeeper());
  const log: string[] = [];
  await using a = await LibraryNode.join(group, 'a', {
    logger: pino({}, { write: (line: string) => log.push(line) }),
  });
  const heard: string[] = [];
  const broken = (name: string) => new Error(`${name} is broken`);
  const bang = (name: string) =>
    isAsync
      ? async () => {
          heard.push(name);
          throw broken(name);
        }
      : () => {
          heard.push(name);
          throw broken(name);
        };
  for (const event of ['leader', 'follower', 'status'] as const) {
    a.petrel.on(event, bang(event));
    a.petrel.on(event, bang(`second ${event}`));
  }
  a.lead();
  await a.leads();
  a.petrel.setHealth(false, 'broken');
  await until(() => heard.includes('second follower'));
  expect(new Set(heard)).toEqual(
    new Set(['leader', 'second leader', 'follower', 'second follower', 'status', 'second status']),
  );
  expect(a.last.signal.aborted).toBe(true);
  await until(async () => (await group.current()) === null);
  for (const event of ['leader', 'follower', 'status'])
    expect(log.join('')).toContain(
      JSON.stringify(`a listener for "${event}" failed: second ${event} is broken`),
    );
});

describe('work that does not wait for its signal', () => {
  const quick = { backoff: { base: '1s', max: '1s' } };

  it('gives leadership up when it rejects, and says why', async () => {
    await using group = await Group.found(await sharedZooKeeper(), quick);
    await using a = await LibraryNode.join(group, 'a');
    await using b = await LibraryNode.join(group, 'b');
    a.lead({
      work: async () => {
        await until(() => b.petrel.status.joined);
        throw new Error('out of ideas');
      },
    });
    b.lead();
    await b.leads();
    const { reason } = await group.elected();
    expect(reason).toContain('out of ideas');
    expect(a.last.signal.aborted).toBe(true);
  });

  it('gives leadership up when it returns', async () => {
    await using group = await Group.found(await sharedZooKeeper(), quick);
    await using a = await LibraryNode.join(group, 'a');
    await using b = await LibraryNode.join(group, 'b');
    a.lead({ work: () => {} });
    await until(() => a.leaderships.length === 1);
    b.lead();
    await b.leads();
    expect(a.petrel.leads).toBe(false);
  });

  it('keeps the claim while it ignores its signal, and gives it up once it settles', async () => {
    await using group = await Group.found(await sharedZooKeeper(), {
      timeouts: { release: '500ms', grace: '200ms' },
    });
    await using a = await LibraryNode.join(group, 'a');
    await using b = await LibraryNode.join(group, 'b');
    let settle = () => {};
    a.lead({ work: () => new Promise((resolve) => (settle = resolve)) });
    await a.leads();
    b.lead();
    a.petrel.setHealth(false, 'broken');
    await until(async () => (await group.elected()).node === 'b');
    const { signal } = a.last;
    await until(() => signal.aborted);
    const abortedAtMs = performance.now();
    await until(() => performance.now() - abortedAtMs > 1500);
    expect((await group.current())?.node).toBe('a');
    expect(b.leaderships).toEqual([]);
    settle();
    await b.leads();
  });
});

describe('a takeover', () => {
  const config = { backoff: { base: '30s', max: '30s' }, timeouts: { takeover: '500ms' } };

  it.each([
    ['rejects', () => Promise.reject(new Error('no disk')), 'no disk'],
    ['hangs', untilAborted, 'timed out after 500 ms'],
  ])('that %s is a failed one: the next node is elected', async (_, takeover, why) => {
    await using group = await Group.found(await sharedZooKeeper(), config);
    await using a = await LibraryNode.join(group, 'a');
    await using b = await LibraryNode.join(group, 'b');
    a.lead({ takeover });
    await until(async () => (await group.elected()).failures.some(({ node }) => node === 'a'));
    b.lead();
    await b.leads();
    const { failures } = await group.elected();
    expect(failures.find(({ node }) => node === 'a')?.reason).toContain(why);
    expect(a.leaderships).toEqual([]);
    await until(async () => (await group.history()).some((record) => record.kind === 'transition'));
  });

  it('runs before the node is READY, with the token it will lead under', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    await using a = await LibraryNode.join(group, 'a');
    const during: unknown[] = [];
    a.lead({
      takeover: async ({ fencingToken, held }) => {
        during.push({ fencingToken, held, status: (await group.current())?.status });
      },
    });
    await a.leads();
    expect(during).toEqual([
      { fencingToken: a.last.leadership.fencingToken, held: false, status: 'PROGRESS' },
    ]);
  });
});

it('terms and fencing tokens grow from one leadership to the next', async () => {
  await using group = await Group.found(await sharedZooKeeper());
  await using a = await LibraryNode.join(group, 'a');
  await using b = await LibraryNode.join(group, 'b');
  a.lead();
  await a.leads();
  b.lead();
  for (const [from, to] of [
    [a, b],
    [b, a],
    [a, b],
  ] as const) {
    from.petrel.setHealth(false, 'its turn is over');
    await to.leads();
    from.petrel.setHealth(true);
    await until(async () => (await group.elected()).node === to.petrel.status.node);
  }
  const all = [...a.leaderships, ...b.leaderships].map(({ leadership }) => leadership);
  const inOrder = all.toSorted((one, other) => one.term - other.term);
  expect(inOrder.map(({ previousLeader }) => previousLeader)).toEqual([null, 'a', 'b', 'a']);
  expect(new Set(inOrder.map(({ term }) => term)).size).toBe(4);
  inOrder.reduce((before, after) => {
    expect(after.fencingToken).toBeGreaterThan(before.fencingToken);
    return after;
  });
});

describe('a node that is given its work after it has joined', () => {
  it('is the published successor', async () => {
    await using group = await Group.found(await sharedZooKeeper());
    await using a = await LibraryNode.join(group, 'a');
    await using b = await LibraryNode.join(group, 'b');
    a.lead();
    await a.leads();
    b.lead();
    await until(async () => {
      const { data } = await group.store.getData(group.paths.successor);
      return successorSchema.parse(JSON.parse(data.toString('utf8'))).prepared?.decision.node === 'b';
    });
  });
});
