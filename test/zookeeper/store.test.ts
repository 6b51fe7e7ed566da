/** Tests the store port from its users' point of view, against the ZooKeeper that the tests use. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PetrelError } from '../../src/errors.js';
import type { Store } from '../../src/ports/store.js';
import { builtModule } from '../support/built.js';
import { sharedZooKeeper, startZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';
import { dataAnswer, FakeServer, op } from './fake-server.js';
import { connectedProbe, failureOf, type Probe, type ProbeOptions, probe } from './probe.js';

const nothing: Buffer = Buffer.alloc(0);

async function opened(options: ProbeOptions = {}): Promise<Probe & { root: string }> {
  const ours = await connectedProbe(await sharedZooKeeper(), options);
  return { ...ours, root: await ours.store.create(uniqueRoot(), nothing, 'persistent') };
}

describe('reading and writing', () => {
  it('every create mode', async () => {
    await using ours = await opened();
    const { store, root } = ours;
    expect(await store.create(`${root}/p`, nothing, 'persistent')).toBe(`${root}/p`);
    expect(await store.create(`${root}/e`, nothing, 'ephemeral')).toBe(`${root}/e`);
    expect(await store.create(`${root}/s-`, nothing, 'persistent-sequential')).toBe(`${root}/s-0000000002`);
    expect(await store.create(`${root}/s-`, nothing, 'ephemeral-sequential')).toBe(`${root}/s-0000000003`);
    const owners = await Promise.all(
      ['p', 'e', 's-0000000002', 's-0000000003'].map((name) => store.exists(`${root}/${name}`)),
    );
    const { sessionId } = store;
    expect(owners.map((stat) => stat?.ephemeralOwner)).toEqual([0n, sessionId, 0n, sessionId]);
  });

  it('versions are insisted on, and data come back as they were', async () => {
    await using ours = await opened();
    const { store, root } = ours;
    const data = Buffer.from([0, 255, 10, 13]);
    expect(await store.set(root, data, 0)).toMatchObject({ version: 1, dataLength: 4, numChildren: 0 });
    expect((await failureOf(store.set(root, nothing, 0))).code).toBe('BAD_VERSION');
    const read = await store.getData(root);
    expect(read.data).toEqual(data);
    expect(read.stat).toEqual(await store.exists(root));
    expect((await failureOf(store.delete(root, 0))).code).toBe('BAD_VERSION');
    await store.delete(root, 1);
    expect(await store.exists(root)).toBeNull();
    expect((await failureOf(store.getData(root))).code).toBe('NO_NODE');
  });

  it('errors name what was done, where, and why it failed', async () => {
    await using ours = await opened();
    const { store, root } = ours;
    const error = await failureOf(store.create(root, nothing, 'persistent'));
    expect(error).toMatchObject({ code: 'NODE_EXISTS', path: root, outcomeUnknown: false });
    expect(error.message).toBe(`create ${root}: the znode already exists (NODE_EXISTS)`);
  });

  it('calls are settled in the order they were made', async () => {
    await using ours = await opened({ sessionTimeoutMs: 10_000 });
    const { store, root } = ours;
    const settled: number[] = [];
    const calls = Array.from({ length: 200 }, async (_, index) => {
      if (index % 2 === 0) await store.set(root, Buffer.from(String(index)), index / 2);
      else expect((await store.getData(root)).data.toString()).toBe(String(index - 1));
      settled.push(index);
    });
    await Promise.all(calls);
    expect(settled).toEqual([...settled].sort((a, b) => a - b));
  });

  it('a long listing arrives in full', async () => {
    await using ours = await opened({ sessionTimeoutMs: 10_000 });
    const { store, root } = ours;
    const name = (index: number) => `${'n'.repeat(200)}-${index}`;
    const names = Array.from({ length: 1000 }, (_, index) => name(index));
    await Promise.all(names.map((each) => store.create(`${root}/${each}`, nothing, 'persistent')));
    const { children, stat } = await store.getChildren(root);
    expect(children.sort()).toEqual(names.sort());
    expect(stat.numChildren).toBe(1000);
  });
});

describe('a multi', () => {
  it('does all, and shares one zxid', async () => {
    await using ours = await opened();
    const { store, root } = ours;
    await store.create(`${root}/old`, nothing, 'persistent');
    const results = await store.multi([
      { type: 'check', path: root, version: 0 },
      { type: 'create', path: `${root}/claim-`, data: Buffer.from('c'), mode: 'ephemeral-sequential' },
      { type: 'set', path: root, data: Buffer.from('s'), version: 0 },
      { type: 'delete', path: `${root}/old`, version: 0 },
    ]);
    expect(results.map(({ type }) => type)).toEqual(['check', 'create', 'set', 'delete']);
    const [, created, set] = results;
    if (created?.type !== 'create' || set?.type !== 'set') throw new Error('results out of order');
    const claim = await store.exists(created.path);
    expect(claim?.czxid).toBe(set.stat.mzxid);
    expect(claim?.ephemeralOwner).toBe(store.sessionId);
    expect(await store.exists(`${root}/old`)).toBeNull();
  });

  it.each([0, 1, 2])('does nothing when operation %i fails, and says which', async (failing) => {
    await using ours = await opened();
    const { store, root } = ours;
    const good = { type: 'set', path: root, data: Buffer.from('x'), version: 'any' } as const;
    const bad = { type: 'delete', path: `${root}/none`, version: 'any' } as const;
    const operations = [0, 1, 2].map((index) => (index === failing ? bad : good));
    const error = await failureOf(store.multi(operations));
    expect(error).toMatchObject({ code: 'NO_NODE', failedOp: failing, path: `${root}/none` });
    expect(error.message).toContain(`multi of 3 operations: operation ${failing + 1}, delete ${root}/none`);
    expect((await store.getData(root)).stat.version).toBe(0);
  });

  it('of checks alone changes nothing and wakes nobody', async () => {
    await using ours = await opened();
    const { store, root } = ours;
    await store.getData(root, { watch: true });
    expect(await store.multi([{ type: 'check', path: root, version: 0 }])).toEqual([{ type: 'check' }]);
    await store.sync(root);
    expect(ours.changes).toEqual([]);
  });
});

describe('watches', () => {
  it('report the next change of what was read once', async () => {
    await using ours = await opened();
    const { store, root } = ours;
    const changesAfter = async (change: () => Promise<unknown>) => {
      ours.changes.length = 0;
      await change();
      await store.sync('/');
      return [...ours.changes];
    };
    await store.getData(root, { watch: true });
    expect(await changesAfter(() => store.create(`${root}/a`, nothing, 'persistent'))).toEqual([]);
    expect(await changesAfter(() => store.set(root, nothing, 'any'))).toEqual([root]);
    expect(await changesAfter(() => store.set(root, nothing, 'any'))).toEqual([]);
    await store.getChildren(root, { watch: true });
    expect(await changesAfter(() => store.set(root, nothing, 'any'))).toEqual([]);
    expect(await changesAfter(() => store.create(`${root}/b`, nothing, 'persistent'))).toEqual([root]);
    await store.exists(`${root}/c`, { watch: true });
    expect(await changesAfter(() => store.create(`${root}/c`, nothing, 'persistent'))).toEqual([`${root}/c`]);
    await store.exists(`${root}/c`, { watch: true });
    expect(await changesAfter(() => store.delete(`${root}/c`, 'any'))).toEqual([`${root}/c`]);
    await store.exists(`${root}/d`);
    expect(await changesAfter(() => store.create(`${root}/d`, nothing, 'persistent'))).toEqual([]);
  });

  it('report after a reconnect what changed meanwhile, and what changes then', async () => {
    await using other = await opened();
    const { root } = other;
    await using proxy = await startProxy({ target: await sharedZooKeeper() });
    await using ours = await connectedProbe(proxy.address, { sessionTimeoutMs: 10_000 });
    await other.store.create(`${root}/data`, nothing, 'persistent');
    await other.store.create(`${root}/later`, nothing, 'persistent');
    await ours.store.getData(`${root}/data`, { watch: true });
    await ours.store.getChildren(root, { watch: true });
    await ours.store.exists(`${root}/new`, { watch: true });
    await ours.store.getData(`${root}/later`, { watch: true });
    proxy.refuse();
    proxy.resetAll();
    await until(() => ours.states.length > 1);
    await other.store.set(`${root}/data`, nothing, 'any');
    await other.store.create(`${root}/new`, nothing, 'persistent');
    await proxy.heal();
    await ours.store.connected();
    await until(() => ours.changes.length === 3);
    expect([...ours.changes].sort()).toEqual([root, `${root}/data`, `${root}/new`]);
    await other.store.set(`${root}/later`, nothing, 'any');
    await until(() => ours.changes.length === 4);
    expect(ours.changes[3]).toBe(`${root}/later`);
  });

  it('that take more than one packet to set again are all set again', async () => {
    await using other = await opened();
    const { root } = other;
    await using proxy = await startProxy({ target: await sharedZooKeeper() });
    await using ours = await connectedProbe(proxy.address, { sessionTimeoutMs: 10_000 });
    const paths = Array.from({ length: 1500 }, (_, index) => `${root}/${'x'.repeat(900)}${index}`);
    await Promise.all(paths.map((path) => ours.store.exists(path, { watch: true })));
    proxy.resetAll();
    await until(() => ours.states.length > 1);
    await ours.store.connected();
    const last = paths.at(-1) ?? '';
    await other.store.create(last, nothing, 'persistent');
    await until(() => ours.changes.length > 0);
    expect(ours.changes).toEqual([last]);
  });
});

describe('a chroot', () => {
  it('is under every path, and in none that comes back', async () => {
    await using plain = await opened();
    const { root } = plain;
    await using proxy = await startProxy({ target: await sharedZooKeeper() });
    await using ours = await connectedProbe(`${proxy.address}${root}`, { sessionTimeoutMs: 10_000 });
    const { store } = ours;
    expect(await store.create('/a', nothing, 'persistent')).toBe('/a');
    const [created] = await store.multi([
      { type: 'create', path: '/a/b', data: nothing, mode: 'persistent' },
    ]);
    expect(created).toEqual({ type: 'create', path: '/a/b' });
    expect((await store.getChildren('/')).children).toEqual(['a']);
    expect(await plain.store.exists(`${root}/a/b`)).not.toBeNull();
    expect((await failureOf(store.delete('/none', 'any'))).path).toBe('/none');
    await store.getData('/', { watch: true });
    await store.getData('/a', { watch: true });
    proxy.resetAll();
    await until(() => ours.states.length > 1);
    await store.connected();
    await plain.store.set(`${root}/a`, nothing, 'any');
    await plain.store.set(root, nothing, 'any');
    await until(() => ours.changes.length === 2);
    // The order is not defined. Changes that were made before the watches are set again are all reported at
    // that time.
    expect(ours.changes.toSorted()).toEqual(['/', '/a']);
    await store.sync('/');
  });
});

describe('deadlines and signals', () => {
  it('a call gives up at its deadline, and its late answer harms nobody', async () => {
    const answer: (() => void)[] = [];
    await using fake = await FakeServer.start({
      request: (talk, { xid, type }) => {
        answer.push(() => talk.reply(xid, type === op.GET_DATA ? { body: dataAnswer(nothing) } : {}));
        if (answer.length > 1) for (const each of answer.splice(0)) each();
      },
    });
    await using ours = await connectedProbe(fake.address, { callTimeoutMs: 100 });
    const first = await failureOf(ours.store.delete('/a', 'any'));
    expect(first).toMatchObject({ code: 'TIMEOUT', path: '/a', outcomeUnknown: true });
    expect(first.message).toBe('delete /a: no response within 100 ms');
    expect((await ours.store.getData('/b', { timeoutMs: 5000 })).data).toEqual(nothing);
  });

  it('a call gives up on its signal', async () => {
    await using fake = await FakeServer.start();
    await using ours = await connectedProbe(fake.address);
    const reason = new Error('no longer wanted');
    const controller = new AbortController();
    const call = failureOf(ours.store.getData('/a', { signal: controller.signal }));
    await until(() => fake.talks[0]?.types.length === 1);
    controller.abort(reason);
    expect(await call).toMatchObject({ code: 'ABORTED', cause: reason, outcomeUnknown: true });
    const late = await failureOf(ours.store.set('/a', nothing, 0, { signal: controller.signal }));
    expect(late.code).toBe('ABORTED');
    expect(fake.talks[0]?.types).toEqual([op.GET_DATA]);
  });

  it('waiting for the connection ends by its signal, or with the store', async () => {
    await using ours = probe('127.0.0.1:1');
    const controller = new AbortController();
    const aborted = failureOf(ours.store.connected({ signal: controller.signal }));
    const closed = failureOf(ours.store.connected());
    controller.abort();
    expect((await aborted).code).toBe('ABORTED');
    expect(await ours.store.close()).toBe(false);
    expect(await closed).toMatchObject({
      code: 'SESSION_EXPIRED',
      message: expect.stringContaining('closed'),
    });
  });

  it.each([
    { sessionTimeoutMs: 0 },
    { sessionTimeoutMs: 1.5 },
    { callTimeoutMs: -1 },
    { session: { id: 1n, password: Buffer.alloc(3) } },
  ])('%o is refused', (options) => {
    expect(() => probe('127.0.0.1:1', options)).toThrow(PetrelError);
  });
});

describe('a session', () => {
  it('can be abandoned: it frees everything, and what it owns lives on until it expires', async () => {
    await using ours = await opened({ sessionTimeoutMs: 10_000 });
    await using other = await opened();
    await ours.store.create(`${ours.root}/e`, nothing, 'ephemeral');
    expect(await ours.store.close({ abandon: true })).toBe(false);
    expect(ours.store.state).toBe('CLOSED');
    await other.store.sync('/');
    const stat = await other.store.exists(`${ours.root}/e`);
    expect(stat?.ephemeralOwner).toBe(ours.store.sessionId);
  });

  it('that was closed keeps no process alive', async () => {
    const source = `
      import { openStore, parseConnectionString } from '${await builtModule('zookeeper/index.js')}';
      const servers = parseConnectionString('127.0.0.1:1,${await sharedZooKeeper()}');
      const store = openStore({ servers, sessionTimeoutMs: 10_000 });
      await store.connected();
      await store.close();
      await openStore({ servers: parseConnectionString('127.0.0.1:1'), sessionTimeoutMs: 10_000 }).close();`;
    const args = ['--input-type=module', '-e', source];
    await expect(promisify(execFile)(process.execPath, args, { timeout: 120_000 })).resolves.toBeTruthy();
  });

  it('has an id, a password and a timeout that the ensemble may have changed', async () => {
    await using server = await startZooKeeper({ tickTimeMs: 400 });
    await using short = await connectedProbe(server.connectString, { sessionTimeoutMs: 100 });
    await using long = await connectedProbe(server.connectString, { sessionTimeoutMs: 100_000 });
    expect(short.store.negotiatedTimeoutMs).toBe(800);
    expect(long.store.negotiatedTimeoutMs).toBe(8000);
    expect(short.store.sessionId).not.toBe(long.store.sessionId);
    expect(short.store.sessionPassword).toHaveLength(16);
  });

  it('of a dead process can be ended by who knows its password', async () => {
    await using dead = await opened({ sessionTimeoutMs: 10_000 });
    const { root } = dead;
    await dead.store.create(`${root}/e`, nothing, 'ephemeral');
    const session = { id: dead.store.sessionId, password: dead.store.sessionPassword };
    await using candidate = await connectedProbe(await sharedZooKeeper(), { session });
    expect(candidate.store.sessionId).toBe(session.id);
    expect((await candidate.store.exists(`${root}/e`))?.ephemeralOwner).toBe(session.id);
    expect(await candidate.store.close()).toBe(true);
    await using observer = await connectedProbe(await sharedZooKeeper());
    expect(await observer.store.exists(`${root}/e`)).toBeNull();
    await until(() => dead.store.state === 'LOST');
  });

  it('can be ended without waiting for the connection first', async () => {
    await using dead = await opened({ sessionTimeoutMs: 10_000 });
    await dead.store.create(`${dead.root}/e`, nothing, 'ephemeral');
    const session = { id: dead.store.sessionId, password: dead.store.sessionPassword };
    expect(await probe(await sharedZooKeeper(), { session }).store.close()).toBe(true);
    await using observer = await connectedProbe(await sharedZooKeeper());
    expect(await observer.store.exists(`${dead.root}/e`)).toBeNull();
    expect(await probe(await sharedZooKeeper(), { session }).store.close()).toBe(true);
  });

  it.each([
    ['unknown', (store: Store) => ({ id: store.sessionId + 1n, password: store.sessionPassword })],
    ['under a wrong password', (store: Store) => ({ id: store.sessionId, password: Buffer.alloc(16, 7) })],
  ])('%s cannot be attached to', async (_, session) => {
    await using other = await opened();
    const { sessionId } = other.store;
    await using ours = probe(await sharedZooKeeper(), { session: session(other.store) });
    expect(await failureOf(ours.store.connected())).toMatchObject({
      code: 'SESSION_EXPIRED',
      message: 'connect to ZooKeeper: the ensemble has ended the session',
    });
    expect(ours.states).toEqual(['LOST']);
    // ZooKeeper closes the other client's connection even in this case, but it does not end that client's
    // session.
    await other.store.connected();
    expect(other.store.sessionId).toBe(sessionId);
  });

  it('that the ensemble ended while we were away is lost, with its ephemerals', async () => {
    await using observer = await opened();
    const { root } = observer;
    await using proxy = await startProxy({ target: await sharedZooKeeper() });
    await using ours = await connectedProbe(proxy.address, { sessionTimeoutMs: 1000 });
    await ours.store.create(`${root}/e`, nothing, 'ephemeral');
    proxy.blackHole('toServer');
    await until(() => ours.store.state === 'LOST');
    await until(async () => (await observer.store.exists(`${root}/e`)) === null);
    expect(ours.states).toEqual(['CONNECTED', 'SUSPENDED', 'LOST']);
  });
});
