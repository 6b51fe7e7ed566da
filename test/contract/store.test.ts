/** Tests the operations of the store port, with their results and errors, over a real session. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/ports/store.js';
import { openStore, parseConnectionString } from '../../src/zookeeper/index.js';
import { startZooKeeper, type TestServer, uniqueRoot } from '../support/ensemble.js';
import { until } from '../support/until.js';
import { tickTimeMs } from './setting.js';

const sessionTimeoutMs = 4 * tickTimeMs;
const data = Buffer.from('data');
const none = Buffer.alloc(0);
const stores: Store[] = [];
let server: TestServer;
let store: Store;
let root: string;

beforeAll(async () => {
  server = await startZooKeeper({ tickTimeMs });
});

beforeEach(async () => {
  root = uniqueRoot('store');
  store = await open();
  await store.create(root, none, 'persistent');
});

afterEach(async () => {
  await Promise.all(stores.splice(0).map((each) => each.close()));
});

afterAll(async () => {
  await server?.stop();
});

async function open(session?: { id: bigint; password: Buffer }): Promise<Store> {
  const servers = parseConnectionString(server.connectString);
  const opened = openStore({ servers, sessionTimeoutMs, ...(session && { session }) });
  stores.push(opened);
  await opened.connected();
  return opened;
}

describe('znodes', () => {
  it('are created, read, set and deleted', async () => {
    expect(await store.create(`${root}/a`, data, 'persistent')).toBe(`${root}/a`);
    const read = await store.getData(`${root}/a`);
    expect(read.data).toEqual(data);
    expect(read.stat).toMatchObject({ version: 0, ephemeralOwner: 0n, dataLength: 4, numChildren: 0 });
    expect(read.stat.czxid).toBe(read.stat.mzxid);
    const stat = await store.set(`${root}/a`, none, 0);
    expect(stat.version).toBe(1);
    expect(stat.mzxid).toBeGreaterThan(stat.czxid);
    expect(await store.exists(`${root}/a`)).toEqual(stat);
    expect((await store.getChildren(root)).children).toEqual(['a']);
    await store.delete(`${root}/a`, 1);
    expect(await store.exists(`${root}/a`)).toBe(null);
  });

  it('of every mode are what they are called', async () => {
    const paths = await Promise.all([
      store.create(`${root}/a-`, none, 'persistent'),
      store.create(`${root}/b-`, none, 'persistent-sequential'),
      store.create(`${root}/c-`, none, 'ephemeral'),
      store.create(`${root}/d-`, none, 'ephemeral-sequential'),
    ]);
    expect(paths).toEqual([`${root}/a-`, `${root}/b-0000000001`, `${root}/c-`, `${root}/d-0000000003`]);
    const stats = await Promise.all(paths.map((path) => store.exists(path)));
    expect(stats.map((stat) => stat?.ephemeralOwner)).toEqual([0n, 0n, store.sessionId, store.sessionId]);
  });

  it('insist on a version, 0 included', async () => {
    await store.set(root, data, 0);
    await expect(store.set(root, data, 0)).rejects.toMatchObject({ code: 'BAD_VERSION', path: root });
    await expect(store.delete(root, 0)).rejects.toMatchObject({ code: 'BAD_VERSION' });
    await store.set(root, data, 'any');
  });

  it('that are missing or in the way are named in the error', async () => {
    const path = `${root}/missing`;
    await expect(store.getData(path)).rejects.toMatchObject({ code: 'NO_NODE', path });
    await expect(store.getChildren(path)).rejects.toMatchObject({ code: 'NO_NODE', path });
    await expect(store.set(path, data, 'any')).rejects.toMatchObject({ code: 'NO_NODE', path });
    await expect(store.delete(path, 'any')).rejects.toMatchObject({ code: 'NO_NODE', path });
    await expect(store.create(`${path}/a`, data, 'persistent')).rejects.toMatchObject({ code: 'NO_NODE' });
    await expect(store.create(root, data, 'persistent')).rejects.toMatchObject({ code: 'NODE_EXISTS' });
    await store.create(path, data, 'ephemeral');
    await expect(store.delete(root, 'any')).rejects.toMatchObject({ code: 'NOT_EMPTY' });
    await expect(store.create(`${path}/a`, data, 'persistent')).rejects.toMatchObject({
      code: 'NO_CHILDREN_FOR_EPHEMERALS',
    });
  });
});

describe('multi', () => {
  it('gives one result an operation, all under one zxid', async () => {
    await store.create(`${root}/set`, none, 'persistent');
    await store.create(`${root}/old`, none, 'persistent');
    const results = await store.multi([
      { type: 'check', path: root, version: 0 },
      { type: 'create', path: `${root}/n-`, data, mode: 'ephemeral-sequential' },
      { type: 'set', path: `${root}/set`, data, version: 0 },
      { type: 'delete', path: `${root}/old`, version: 0 },
    ]);
    const [, created, set] = results;
    expect(results.map(({ type }) => type)).toEqual(['check', 'create', 'set', 'delete']);
    expect(created).toEqual({ type: 'create', path: `${root}/n-0000000002` });
    const stat = await store.exists(`${root}/n-0000000002`);
    expect(set?.type === 'set' && set.stat.mzxid).toBe(stat?.czxid);
  });

  it('says which operation failed, and applies none of them', async () => {
    const failing = store.multi([
      { type: 'create', path: `${root}/a`, data, mode: 'persistent' },
      { type: 'check', path: root, version: 0 },
      { type: 'set', path: root, data, version: 1 },
      { type: 'delete', path: `${root}/missing`, version: 'any' },
    ]);
    await expect(failing).rejects.toMatchObject({ code: 'BAD_VERSION', failedOp: 2, path: root });
    expect(await store.exists(`${root}/a`)).toBe(null);
  });

  it('of checks alone is a write that wakes nobody', async () => {
    const woken: string[] = [];
    store.onChange((path) => woken.push(path));
    await store.getData(root, { watch: true });
    await store.multi([{ type: 'check', path: root, version: 0 }]);
    await store.create(`${root}/a`, data, 'persistent');
    await store.sync(root);
    expect(woken).toEqual([]);
  });
});

describe('watches', () => {
  it('report data, children, creation and deletion, once each', async () => {
    const other = await open();
    const woken: string[] = [];
    store.onChange((path) => woken.push(path));
    await store.exists(`${root}/new`, { watch: true });
    await other.create(`${root}/new`, none, 'persistent');
    await until(() => woken.length === 1);
    await store.getData(`${root}/new`, { watch: true });
    await store.getChildren(root, { watch: true });
    await other.set(`${root}/new`, data, 'any');
    await other.set(`${root}/new`, data, 'any');
    await other.create(`${root}/more`, none, 'persistent');
    await other.create(`${root}/evenMore`, none, 'persistent');
    await store.sync(root);
    expect(woken).toEqual([`${root}/new`, `${root}/new`, root]);
  });
});

describe('a session', () => {
  it('gets the timeout that the server grants', () => {
    expect(store.negotiatedTimeoutMs).toBe(sessionTimeoutMs);
    expect(store.sessionPassword).toHaveLength(16);
  });

  it('can be ended by another store that attaches to it', async () => {
    await store.create(`${root}/e`, data, 'ephemeral');
    const watcher = await open();
    const candidate = await open({ id: store.sessionId, password: store.sessionPassword });
    expect(candidate.sessionId).toBe(store.sessionId);
    expect(await candidate.close()).toBe(true);
    await watcher.sync(root);
    expect(await watcher.exists(`${root}/e`)).toBe(null);
    await until(() => store.state === 'LOST');
  });

  it('goes on over a broken connection, with its ephemerals and watches', async () => {
    await store.create(`${root}/e`, data, 'ephemeral');
    await store.getData(root, { watch: true });
    const woken: string[] = [];
    store.onChange((path) => woken.push(path));
    const { sessionId } = store;
    // A session has only one connection, and the newest attempt to attach takes it over. This attempt breaks
    // the old connection.
    const thief = openStore({
      servers: parseConnectionString(server.connectString),
      sessionTimeoutMs,
      session: { id: sessionId, password: Buffer.alloc(16) },
    });
    stores.push(thief);
    await until(() => thief.state === 'LOST');
    await until(() => store.state === 'CONNECTED');
    const other = await open();
    await other.set(root, data, 'any');
    await until(() => woken.includes(root));
    expect(store.sessionId).toBe(sessionId);
    expect((await store.exists(`${root}/e`))?.ephemeralOwner).toBe(sessionId);
  });
});
