import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Commit,
  type DevelopmentServer,
  startDevelopmentServer,
  type Write,
} from '../../src/testing.js';
import { Disconnected, eventTypes, WireClient } from '../contract/wire-client.js';
import { until } from '../support/until.js';
import { fourLetterWord } from '../support/zookeeper/four-letter-word.js';

let server: DevelopmentServer;
let writer: WireClient;
let reader: WireClient;

beforeEach(async () => {
  server = await startDevelopmentServer({ tickTimeMs: 50 });
  writer = await WireClient.connect(server.connectString);
  reader = await WireClient.connect(server.connectString);
});

afterEach(async () => {
  await server.close();
});

const to = (path: string) => (write: Write) => write.operations.some((operation) => operation.path === path);

/** Returns a function that reports whether the promise has settled. */
function settled(promise: Promise<unknown>): () => boolean {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  return () => isSettled;
}

/**
 * Waits long enough for an answer to have arrived. Checks that the server still answers health checks in the
 * meantime.
 */
async function roundTrips(): Promise<void> {
  for (let count = 0; count < 3; count++)
    await until(async () => (await fourLetterWord(server.connectString, 'ruok')) === 'imok');
}

describe('a server that stands still where a write has arrived', () => {
  it('has not applied it, answers nobody meanwhile, and applies it when it goes on', async () => {
    const reached = server.standStill('arrived', to('/a'));
    const created = writer.create('/a');
    const { write, resume } = await reached;
    expect(write).toMatchObject({
      sessionId: writer.sessionId,
      operations: [{ type: 'create', path: '/a' }],
    });
    const read = reader.read('exists', '/a');
    const isRead = settled(read);
    await roundTrips();
    expect(isRead()).toBe(false);
    resume();
    expect((await created).error).toBe('OK');
    expect((await read).error).toBe('OK');
  });

  it('forgets it when its connection is broken off', async () => {
    const reached = server.standStill('arrived', to('/a'));
    const created = writer.create('/a');
    (await reached).breakOff();
    await expect(created).rejects.toThrow(Disconnected);
    expect((await reader.read('exists', '/a')).error).toBe('NO_NODE');
  });
});

describe('a server that stands still where a write is committed', () => {
  it('has notified no client, and notifies all of them when it goes on', async () => {
    await reader.read('exists', '/a', true);
    const reached = server.standStill('committed', to('/a'));
    const created = writer.create('/a');
    const isCreated = settled(created);
    const { resume } = await reached;
    const read = reader.read('exists', '/a');
    await roundTrips();
    expect(isCreated()).toBe(false);
    expect(reader.events).toEqual([]);
    resume();
    expect((await created).error).toBe('OK');
    expect((await read).error).toBe('OK');
    expect(reader.events).toEqual([{ type: eventTypes.created, path: '/a' }]);
  });

  it('loses the reply, and nothing else, when the connection is broken off', async () => {
    await reader.read('exists', '/a', true);
    const reached = server.standStill('committed', to('/a'));
    const created = writer.create('/a');
    (await reached).breakOff();
    await expect(created).rejects.toThrow(Disconnected);
    await until(() => reader.events.length > 0);
    expect((await reader.read('exists', '/a')).error).toBe('OK');
  });

  it('does not for a write that fails, or another one', async () => {
    await writer.create('/a');
    const stands = settled(server.standStill('committed', to('/a')));
    expect((await writer.create('/a')).error).toBe('NODE_EXISTS');
    expect((await writer.create('/b')).error).toBe('OK');
    expect(stands()).toBe(false);
  });

  it('stands still again at the next point, before what waits', async () => {
    const first = server.standStill('committed', to('/a'));
    const second = server.standStill('arrived', to('/b'));
    const a = writer.create('/a');
    const b = writer.create('/b');
    const c = writer.create('/c');
    const isDone = settled(c);
    const { resume } = await first;
    resume();
    const next = await second;
    expect((await a).error).toBe('OK');
    resume();
    await roundTrips();
    expect(isDone()).toBe(false);
    next.resume();
    expect((await b).error).toBe('OK');
    expect((await c).error).toBe('OK');
  });

  it('ends no session, however long', async () => {
    const brief = await WireClient.connect(server.connectString, { timeoutMs: 100 });
    const reached = server.standStill('committed', to('/a'));
    const created = writer.create('/a');
    const { resume } = await reached;
    const ping = brief.ping();
    const fromMs = performance.now();
    await until(() => performance.now() - fromMs > 300);
    resume();
    await created;
    expect((await ping).error).toBe('OK');
  });
});

describe('a point at which nobody waits any more', () => {
  it('is passed by', async () => {
    const interest = new AbortController();
    const reached = server.standStill('committed', to('/a'), interest.signal);
    interest.abort(new Error('no more'));
    await expect(reached).rejects.toThrow('no more');
    await expect(server.standStill('committed', to('/a'), interest.signal)).rejects.toThrow('no more');
    expect((await writer.create('/a')).error).toBe('OK');
  });
});

describe('a server that is halted while it stands still', () => {
  it('has lost a write that had only arrived', async () => {
    const reached = server.standStill('arrived', to('/a'));
    const created = writer.create('/a');
    const { resume } = await reached;
    await server.restart();
    resume();
    await expect(created).rejects.toThrow(Disconnected);
    await using again = await WireClient.connect(server.connectString);
    expect((await again.read('exists', '/a')).error).toBe('NO_NODE');
  });

  it('has kept one that was committed', async () => {
    const reached = server.standStill('committed', to('/a'));
    const created = writer.create('/a');
    await reached;
    await server.restart();
    await expect(created).rejects.toThrow(Disconnected);
    await using again = await WireClient.connect(server.connectString);
    expect((await again.read('exists', '/a')).error).toBe('OK');
  });
});

describe('a listener to what is committed', () => {
  it('is notified of writes as they were done, and of the ends of sessions', async () => {
    const heard: Commit[] = [];
    const unlisten = server.onCommit((commit) => heard.push(commit));
    await writer.create('/a-', { flags: 3, data: 'x' });
    await writer.setData('/none', 'y');
    server.expireSession(writer.sessionId);
    const { sessionId } = writer;
    const third = await WireClient.connect(server.connectString);
    await third.create('/c', { flags: 1 });
    await third.request('closeSession');
    unlisten();
    await reader.create('/b');
    const path = '/a-0000000000';
    expect(heard).toMatchObject([
      { sessionId, endsSession: null, operations: [{ type: 'create', path, data: Buffer.from('x') }] },
      { sessionId, endsSession: 'expired', operations: [{ type: 'delete', path }] },
      { sessionId: third.sessionId, operations: [{ type: 'create' }] },
      { sessionId: third.sessionId, endsSession: 'closed', operations: [{ type: 'delete', path: '/c' }] },
    ]);
    expect(heard[1]?.zxid).toBeGreaterThan(heard[0]?.zxid ?? 0n);
  });
});
