/**
 * Tests faults of the client library, with requests, answers and watches, that Petrel's store does not have.
 * Each test runs both in the same scenario.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { CreateMode, Store } from '../../src/ports/store.js';
import { nextXid } from '../../src/zookeeper/connection.js';
import { sharedZooKeeper, startZooKeeper, supportsServerConfig, uniqueRoot } from '../support/ensemble.js';
import { startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';
import { FakeServer, op, reply, type Script } from './fake-server.js';
import { connectedProbe, failureOf } from './probe.js';
import { connectedStock, crashOfStock, type StockError } from './stock.js';

const nothing: Buffer = Buffer.alloc(0);

async function newRoot(store: Store): Promise<string> {
  return store.create(uniqueRoot(), nothing, 'persistent');
}

describe('versions in a multi (B4)', () => {
  it('B4 0 means 0', async () => {
    await using ours = await connectedProbe(await sharedZooKeeper());
    const root = await newRoot(ours.store);
    await ours.store.set(root, nothing, 0);
    const error = await failureOf(
      ours.store.multi([
        { type: 'check', path: root, version: 0 },
        { type: 'set', path: root, data: Buffer.from('unguarded'), version: 'any' },
      ]),
    );
    expect(error).toMatchObject({ code: 'BAD_VERSION', failedOp: 0, path: root });
    expect((await ours.store.getData(root)).stat.version).toBe(1);

    using theirs = await connectedStock(await sharedZooKeeper());
    const guarded = theirs.client.transaction().check(root, 0).setData(root, Buffer.from('unguarded'), 0);
    expect(await new Promise<StockError>((resolve) => guarded.commit(resolve))).toBeNull();
    expect((await ours.store.getData(root)).data.toString()).toBe('unguarded');
  });

  it.each(['set', 'delete'] as const)('B4 0 means 0 in %s, too', async (type) => {
    await using ours = await connectedProbe(await sharedZooKeeper());
    const root = await newRoot(ours.store);
    await ours.store.set(root, nothing, 0);
    const operation = { type, path: root, data: nothing, version: 0 };
    expect(await failureOf(ours.store.multi([operation]))).toMatchObject({
      code: 'BAD_VERSION',
      failedOp: 0,
    });
  });
});

describe('error codes and events that the library does not know (B6)', () => {
  const answering = (error: number): Script => ({ request: (talk, { xid }) => talk.reply(xid, { error }) });

  it.each([
    [-122, 'REQUEST_TIMEOUT'],
    [-125, 'QUOTA_EXCEEDED'],
    [-127, 'THROTTLED'],
    [-999, 'UNKNOWN'],
  ])('B6 error %i is %s', async (wireCode, code) => {
    await using fake = await FakeServer.start(answering(wireCode));
    await using ours = await connectedProbe(fake.address);
    expect((await failureOf(ours.store.getData('/a'))).code).toBe(code);
    expect(ours.store.state).toBe('CONNECTED');
  });

  it('B6 an unknown error crashes the library', async () => {
    await using fake = await FakeServer.start(answering(-125));
    const script = `client.connect(); client.getData('/a', () => process.exit());`;
    expect(await crashOfStock(fake.address, script)).toContain('Unknown code: -125');
  });

  it.skipIf(!supportsServerConfig)('B6 a real server that requires authentication', async () => {
    const extraConfig = ['enforce.auth.enabled=true', 'enforce.auth.schemes=digest'];
    await using server = await startZooKeeper({ extraConfig });
    await using ours = await connectedProbe(server.connectString);
    const error = await failureOf(ours.store.create('/a', nothing, 'persistent'));
    expect(error.code).toBe('SESSION_CLOSED_REQUIRE_SASL_AUTH');
    expect(ours.states).toEqual(['CONNECTED', 'LOST']);
    expect((await failureOf(ours.store.connected())).message).toContain('requires authentication');

    const script = `client.connect(); client.create('/a', () => process.exit());`;
    expect(await crashOfStock(server.connectString, script)).toContain('Unknown code: -124');
  });

  it.each([0, 5, 6, 7, 99])('B6 an event of type %i does no harm', async (type) => {
    const script: Script = {
      request: (talk, { xid }) => {
        talk.notify(type, '/a');
        talk.reply(xid, { error: -101 });
      },
    };
    await using fake = await FakeServer.start(script);
    await using ours = await connectedProbe(fake.address);
    expect((await failureOf(ours.store.getData('/a'))).code).toBe('NO_NODE');
    expect(ours.changes).toEqual(['/a']);

    const stockScript = `client.connect(); client.getData('/a', () => process.exit());`;
    expect(await crashOfStock(fake.address, stockScript)).toContain(`Unknown event type: ${type}`);
  });

  it.each([
    ['an empty frame', () => Buffer.alloc(4)],
    ['half an answer', (xid: number) => reply(xid, { body: Buffer.alloc(4) })],
  ])('B6 %s ends the connection and fails the request', async (_, answer) => {
    const script: Script = { request: (talk, { xid }) => talk.raw(answer(xid)) };
    await using ourFake = await FakeServer.start(script);
    await using theirFake = await FakeServer.start(script);
    await using ours = await connectedProbe(ourFake.address);
    expect(await failureOf(ours.store.getData('/a'))).toMatchObject({
      code: 'CONNECTION_LOSS',
      outcomeUnknown: true,
    });
    await ours.store.connected();
    expect(ours.store.sessionId).toBe(7n);

    const stockScript = `client.connect(); client.getData('/a', () => process.exit());`;
    expect(await crashOfStock(theirFake.address, stockScript)).toContain('out of buffer range');
  });
});

describe('a request whose answer is lost (B8)', () => {
  it('B8 is never sent again, and its outcome is called unknown', async () => {
    const script: Script = { request: (talk) => talk.destroy() };
    await using ourFake = await FakeServer.start(script);
    await using theirFake = await FakeServer.start(script);
    const creates = (fake: FakeServer) =>
      fake.talks.flatMap(({ types }) => types.filter((type) => type === op.CREATE));
    await using ours = await connectedProbe(ourFake.address);
    const error = await failureOf(ours.store.create('/seat-', nothing, 'ephemeral-sequential'));
    expect(error).toMatchObject({ code: 'CONNECTION_LOSS', outcomeUnknown: true });
    await ours.store.connected();
    expect(creates(ourFake)).toHaveLength(1);

    using theirs = await connectedStock(theirFake.address, { retries: 1 });
    await new Promise((resolve) => theirs.client.create('/seat-', 3, resolve));
    expect(creates(theirFake)).toHaveLength(2);
  });

  it('B8 leaves one znode at most, which the session owns', async () => {
    const target = await sharedZooKeeper();
    await using observer = await connectedProbe(target);
    const root = await newRoot(observer.store);
    await using proxy = await startProxy({ target });
    await using ours = await connectedProbe(proxy.address);
    proxy.blackHole('toClient');
    const call = failureOf(ours.store.create(`${root}/seat-`, nothing, 'ephemeral-sequential'));
    await until(async () => (await observer.store.getChildren(root)).children.length === 1);
    proxy.resetAll();
    await proxy.heal();
    expect((await call).outcomeUnknown).toBe(true);
    await ours.store.connected();
    const { children } = await ours.store.getChildren(root);
    expect(children).toHaveLength(1);
    expect((await ours.store.exists(`${root}/${children[0]}`))?.ephemeralOwner).toBe(ours.store.sessionId);
  });
});

describe('answers out of order (B11)', () => {
  it('B11 fail the request and end the connection', async () => {
    const script: Script = {
      request: (talk, { xid }) => talk.reply(talk.index === 0 ? xid + 1 : xid, { error: -101 }),
    };
    await using ourFake = await FakeServer.start(script);
    await using theirFake = await FakeServer.start(script);
    await using ours = await connectedProbe(ourFake.address);
    expect((await failureOf(ours.store.getData('/a'))).code).toBe('CONNECTION_LOSS');
    await ours.store.connected();
    expect((await failureOf(ours.store.getData('/a'))).code).toBe('NO_NODE');

    using theirs = await connectedStock(theirFake.address);
    let settled = false;
    theirs.client.getData('/a', () => {
      settled = true;
    });
    await once(theirs.client, 'disconnected');
    await once(theirs.client, 'connected');
    expect(settled).toBe(false);
  });

  it('B11 sync, which the library cannot send, is answered', async () => {
    await using ours = await connectedProbe(await sharedZooKeeper());
    await expect(ours.store.sync('/')).resolves.toBeUndefined();
  });
});

describe('request numbers (B13)', () => {
  it('B13 begin at 1', async () => {
    const script: Script = { request: (talk, { xid }) => talk.reply(xid, { error: -101 }) };
    await using fake = await FakeServer.start(script);
    await using ours = await connectedProbe(fake.address);
    await failureOf(ours.store.getData('/a'));
    await failureOf(ours.store.getData('/a'));
    using theirs = await connectedStock(fake.address);
    await new Promise((resolve) => theirs.client.getData('/a', resolve));
    expect(fake.talks.map(({ requests }) => requests.map(({ xid }) => xid))).toEqual([[1, 2], [0]]);
  });

  it('B13 wrap to 1 after the last positive one', async () => {
    expect([nextXid(0), nextXid(2 ** 31 - 2), nextXid(2 ** 31 - 1)]).toEqual([1, 2 ** 31 - 1, 1]);

    await using fake = await FakeServer.start();
    using theirs = await connectedStock(fake.address);
    theirs.client.connectionManager.xid = 2 ** 31;
    expect(() => theirs.client.getData('/a', () => undefined)).toThrow(RangeError);
  });
});

describe('arguments and results (B15)', () => {
  it('B15 no data are an empty Buffer, in and out', async () => {
    await using ours = await connectedProbe(await sharedZooKeeper());
    const root = await newRoot(ours.store);
    using theirs = await connectedStock(await sharedZooKeeper());
    await new Promise((resolve) => theirs.client.create(`${root}/null`, resolve));
    const read = new Promise((resolve) => theirs.client.getData(`${root}/null`, (_, data) => resolve(data)));
    expect(await read).toBeUndefined();
    expect((await ours.store.getData(`${root}/null`)).data).toEqual(nothing);
    expect(() => theirs.client.setData(root, null, () => undefined)).toThrow(TypeError);
    await ours.store.set(root, Buffer.from('x'), 0);
    await ours.store.set(root, nothing, 1);
    expect((await ours.store.getData(root)).data).toEqual(nothing);
  });

  it('B15 an unknown create mode is refused, not sent', async () => {
    await using fake = await FakeServer.start({
      request: (talk, { xid }) => talk.reply(xid, { error: -110 }),
    });
    await using ours = await connectedProbe(fake.address);
    const mode: CreateMode = JSON.parse('4');
    const error = await failureOf(ours.store.create('/a', nothing, mode));
    expect(error.code).toBe('BAD_ARGUMENTS');
    expect(error.message).toContain('ephemeral-sequential');

    using theirs = await connectedStock(fake.address);
    await new Promise((resolve) => theirs.client.create('/a', 4, resolve));
    expect(fake.talks.map(({ types }) => types)).toEqual([[], [op.CREATE]]);
  });

  it('B15 64-bit numbers are bigints', async () => {
    await using ours = await connectedProbe(await sharedZooKeeper());
    const root = await newRoot(ours.store);
    const stat = await ours.store.exists(root);
    using theirs = await connectedStock(await sharedZooKeeper());
    const theirStat = await new Promise<unknown>((resolve) => {
      theirs.client.exists(root, (_, found) => resolve(found?.czxid));
    });
    expect(stat?.czxid).toBeTypeOf('bigint');
    expect(theirStat).toBeInstanceOf(Buffer);
    expect(Math.abs(Date.now() - (stat?.ctimeMs ?? 0))).toBeLessThan(60_000);
  });

  it('B15 what is too large for a server is refused, to the byte', async () => {
    await using ours = await connectedProbe(await sharedZooKeeper());
    const root = await newRoot(ours.store);
    const refused = await failureOf(ours.store.set(root, Buffer.alloc(0x100000), 'any'));
    expect(refused.code).toBe('BAD_ARGUMENTS');
    const requestBytes = Number(/is (\d+) bytes/.exec(refused.message)?.[1]);
    const room = 0xfffff - (requestBytes - 0x100000);
    expect((await ours.store.set(root, Buffer.alloc(room), 'any')).dataLength).toBe(room);
    const tooMuch = await failureOf(ours.store.set(root, Buffer.alloc(room + 1), 'any'));
    expect(tooMuch.message).toContain('1048576 bytes long, but ZooKeeper accepts at most 1048575');
    expect(ours.states).toEqual(['CONNECTED']);

    using theirs = await connectedStock(await sharedZooKeeper());
    const sent = new Promise<StockError>((resolve) =>
      theirs.client.setData(root, Buffer.alloc(room + 1), resolve),
    );
    expect((await sent)?.name).toBe('CONNECTION_LOSS');
  });

  it.each([
    ['a relative path', (store: Store) => store.getData('a'), 'must start with a slash'],
    ['a trailing slash', (store: Store) => store.getData('/a/'), 'empty name'],
    ['dots', (store: Store) => store.getData('/a/../b'), '".."'],
    ['a null character', (store: Store) => store.getData('/a\0'), 'null character'],
    ['version -1', (store: Store) => store.set('/a', nothing, -1), '"any"'],
    ['version 1.5', (store: Store) => store.delete('/a', 1.5), 'not a znode version'],
    ['an empty multi', (store: Store) => store.multi([]), 'a multi requires at least one operation'],
    [
      'a bad path in a multi',
      (store: Store) => store.multi([{ type: 'check', path: '', version: 0 }]),
      'slash',
    ],
    ['no Buffer', (store: Store) => store.set('/a', JSON.parse('"text"'), 0), 'must be a Buffer'],
  ])('B15 %s is refused before anything is sent', async (_, call, problem) => {
    await using fake = await FakeServer.start();
    await using ours = await connectedProbe(fake.address);
    const error = await failureOf(call(ours.store));
    expect(error.code).toBe('BAD_ARGUMENTS');
    expect(error.message).toContain(problem);
    expect(fake.talks[0]?.types).toEqual([]);
  });
});

describe('listeners that throw (B16)', () => {
  it('B16 harm nobody, and are logged', async () => {
    await using ours = await connectedProbe(await sharedZooKeeper());
    const root = await newRoot(ours.store);
    const heard: string[] = [];
    ours.store.onChange(() => {
      throw new Error('a bug in a listener');
    });
    ours.store.onState(() => {
      throw new Error('another bug');
    });
    ours.store.onChange((path) => heard.push(path));
    await ours.store.getData(root, { watch: true });
    await ours.store.set(root, nothing, 'any');
    await until(() => heard.length > 0);
    expect(heard).toEqual([root]);
    expect(await ours.store.close()).toBe(true);
    expect(ours.logged.filter(({ message }) => message.includes('listener'))).toMatchObject([
      { level: 'warn', fields: { err: { message: 'a bug in a listener' } } },
      { level: 'warn', fields: { err: { message: 'another bug' } } },
    ]);

    const script = `client.connect(); client.exists('${root}', () => { throw new Error('a bug in a callback'); });`;
    expect(await crashOfStock(await sharedZooKeeper(), script)).toContain('a bug in a callback');
  });
});

describe('watches that never fire (B17)', () => {
  it('B17 do not pile up', async () => {
    const warnings: string[] = [];
    // The expected warning must not appear in the output of the tests, so Node.js must not print it.
    const printers = process.listeners('warning');
    for (const printer of printers) process.removeListener('warning', printer);
    const listener = ({ name }: Error) => warnings.push(name);
    process.on('warning', listener);
    try {
      await using ours = await connectedProbe(await sharedZooKeeper());
      const root = await newRoot(ours.store);
      for (let count = 0; count < 20; count += 1) await ours.store.exists(`${root}/none`, { watch: true });
      await sleep(0);
      expect(warnings).toEqual([]);
      await ours.store.create(`${root}/none`, nothing, 'persistent');
      await until(() => ours.changes.length > 0);
      expect(ours.changes).toEqual([`${root}/none`]);

      using theirs = await connectedStock(await sharedZooKeeper());
      for (let count = 0; count < 20; count += 1) {
        await new Promise((resolve) => theirs.client.exists(`${root}/never`, () => undefined, resolve));
      }
      await until(() => warnings.length > 0);
      expect(warnings).toEqual(['MaxListenersExceededWarning']);
    } finally {
      process.off('warning', listener);
      for (const printer of printers) process.on('warning', printer);
    }
  });
});
