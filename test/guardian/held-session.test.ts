/**
 * The session of a dead agent, which its guardian keeps alive and then ends. The servers are a real one and
 * misbehaving ones.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { HeldSession } from '../../src/guardian/held-session.js';
import type { SessionNote } from '../../src/guardian/messages.js';
import { Report } from '../../src/guardian/report.js';
import { systemClock } from '../../src/ports/clock.js';
import type { Store } from '../../src/ports/store.js';
import { dialOver } from '../../src/zookeeper/dial.js';
import { openStore, parseConnectionString, type StoreOptions } from '../../src/zookeeper/index.js';
import { sharedZooKeeper, startZooKeeper, supportsServerConfig, uniqueRoot } from '../support/ensemble.js';
import { startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';
import { FakeServer, type Script } from '../zookeeper/fake-server.js';

const opened: Store[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

async function connected(
  servers: string,
  sessionTimeoutMs = 2000,
  auth: StoreOptions['auth'] = [],
): Promise<Store> {
  const store = openStore({ servers: parseConnectionString(servers), sessionTimeoutMs, auth });
  opened.push(store);
  await store.connected();
  return store;
}

function noteOf(store: Store, servers: string): SessionNote {
  return {
    id: String(store.sessionId),
    password: store.sessionPassword.toString('base64'),
    timeoutMs: store.negotiatedTimeoutMs,
    longestTimeoutMs: store.longestTimeoutMs,
    servers: parseConnectionString(servers).servers,
    tls: null,
    auth: null,
  };
}

function hold(session: SessionNote): HeldSession {
  return new HeldSession({ session, clock: systemClock, dial: dialOver(undefined), random: () => 0.5 });
}

describe('the session of an agent that has died', () => {
  it('outlives its timeout while it is held, and what it owns goes when it is ended', async () => {
    const servers = await sharedZooKeeper();
    const path = uniqueRoot('held');
    const agent = await connected(servers);
    await agent.create(path, Buffer.alloc(0), 'ephemeral');
    const reader = await connected(servers);
    const note = noteOf(agent, servers);
    await agent.close({ abandon: true });
    const held = hold(note);
    const heldSinceMs = performance.now();
    await until(async () => {
      expect(await reader.exists(path)).not.toBeNull();
      return performance.now() - heldSinceMs > 2 * note.timeoutMs;
    });
    expect(await held.end()).toBe('ended');
    expect(await reader.exists(path)).toBeNull();
  });

  it('V2 is kept by the smallest timeout granted, not by the one that the agent had', async () => {
    await using fake = await FakeServer.start({ handshake: (talk) => talk.grant({ timeoutMs: 90 }) });
    const { servers } = parseConnectionString(fake.address);
    const password = Buffer.alloc(16).toString('base64');
    const timeouts = { timeoutMs: 60_000, longestTimeoutMs: 60_000 };
    const held = hold({ id: '7', password, ...timeouts, servers, tls: null, auth: null });
    await until(() => (fake.talks[0]?.pings ?? 0) >= 2);
    expect(await held.end()).toBe('ended');
  });

  it('V2 is not given up before the greatest timeout granted has passed, where no server grants it', async () => {
    let isOver = false;
    await using fake = await FakeServer.start({
      handshake: (talk) => (isOver ? talk.grant({ timeoutMs: 0 }) : talk.destroy()),
    });
    const { servers } = parseConnectionString(fake.address);
    const held = hold({ ...nowhere, timeoutMs: 150, longestTimeoutMs: 60_000, servers });
    // The pauses between these attempts take longer than the smallest timeout and a third.
    await until(() => fake.talks.length > 5);
    expect(held.isOver).toBe(false);
    isOver = true;
    expect(await held.end()).toBe('over');
  });

  it('is ended at once when that is requested before a server is reached', async () => {
    const servers = await sharedZooKeeper();
    const path = uniqueRoot('held');
    const agent = await connected(servers);
    await agent.create(path, Buffer.alloc(0), 'ephemeral');
    const note = noteOf(agent, servers);
    await agent.close({ abandon: true });
    expect(await hold(note).end()).toBe('ended');
    expect(await (await connected(servers)).exists(path)).toBeNull();
  });

  it('is ended without the credentials that its znodes want', async () => {
    const servers = await sharedZooKeeper();
    const path = uniqueRoot('held');
    const agent = await connected(servers, 2000, [{ scheme: 'digest', credentials: 'petrel:s3cret' }]);
    await agent.create(path, Buffer.alloc(0), 'ephemeral');
    const note = noteOf(agent, servers);
    await agent.close({ abandon: true });
    expect(await hold(note).end()).toBe('ended');
    expect(await (await connected(servers)).exists(path)).toBeNull();
  });

  it.skipIf(!supportsServerConfig)(
    'is ended with credentials only by servers that insist on them',
    async () => {
      const extraConfig = ['enforce.auth.enabled=true', 'enforce.auth.schemes=digest'];
      await using server = await startZooKeeper({ extraConfig });
      const servers = server.connectString;
      const auth = [{ scheme: 'digest', credentials: 'petrel:s3cret' }] as const;
      const reader = await connected(servers, 4000, auth);
      for (const [credentials, end] of [
        [null, 'unconfirmed'],
        ['petrel:s3cret', 'ended'],
      ] as const) {
        const path = uniqueRoot('held');
        const agent = await connected(servers, 4000, auth);
        await agent.create(path, Buffer.alloc(0), 'ephemeral');
        const note = { ...noteOf(agent, servers), auth: credentials };
        await agent.close({ abandon: true });
        expect(await hold(note).end()).toBe(end);
        expect((await reader.exists(path)) === null).toBe(end === 'ended');
      }
    },
  );

  it('is held and ended through an outage of the network that is shorter than its timeout', async () => {
    const target = await sharedZooKeeper();
    const agent = await connected(target, 4000);
    const path = uniqueRoot('held');
    await agent.create(path, Buffer.alloc(0), 'ephemeral');
    await using proxy = await startProxy({ target });
    const note = { ...noteOf(agent, target), servers: [{ host: '127.0.0.1', port: proxy.port }] };
    await agent.close({ abandon: true });
    const held = hold(note);
    await until(() => proxy.open > 0);
    proxy.resetAll();
    expect(await held.end()).toBe('ended');
    expect(await (await connected(target)).exists(path)).toBeNull();
  });

  it('that has ended already is found to be over', async () => {
    const servers = await sharedZooKeeper();
    const agent = await connected(servers);
    const note = noteOf(agent, servers);
    await agent.close();
    const held = hold(note);
    const lines: string[] = [];
    const report = new Report(systemClock, { write: (line) => lines.push(line) });
    await until(() => held.isOver);
    report.remains(new Map([[5102, null]]), 25_000, held);
    expect(lines.join('')).toMatch(/the session of the agent has expired: another node may already lead/);
    expect(await held.end()).toBe('over');
  });

  it('that no server can be asked to end is given up when it must have expired', async () => {
    await using fake = await FakeServer.start();
    const { port } = new URL(`zk://${fake.address}`);
    await fake[Symbol.asyncDispose]();
    const note = { ...nowhere, servers: [{ host: '127.0.0.1', port: Number(port) }] };
    const held = hold(note);
    expect(await held.end()).toBe('unconfirmed');
    expect(held.lastProblem).toContain('ECONNREFUSED');
  });
});

const nowhere: SessionNote = {
  id: '7',
  password: Buffer.alloc(16).toString('base64'),
  timeoutMs: 600,
  longestTimeoutMs: 600,
  servers: [],
  tls: null,
  auth: null,
};

describe('a server that', () => {
  const misbehaves: Readonly<Record<string, Script>> = {
    'answers garbage': { handshake: (talk) => talk.raw(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')) },
    'answers half a frame': { handshake: (talk) => talk.raw(Buffer.from([0, 0, 0, 37, 0])) },
    'answers too short a frame': { handshake: (talk) => talk.raw(Buffer.from([0, 0, 0, 2, 0, 0])) },
    'closes the connection': { handshake: (talk) => talk.end() },
    'never answers': { handshake: () => {} },
    'answers no ping': { ping: () => {}, close: () => {} },
  };

  it.each(Object.entries(misbehaves))('%s is left for another one', async (_what, script) => {
    await using bad = await FakeServer.start(script);
    await using good = await FakeServer.start();
    const servers = [bad, good].map(({ address }) => parseConnectionString(address).servers[0] ?? never());
    // The timeout is so long that the session is still valid when the guardian abandons its first attempt.
    const held = hold({ ...nowhere, timeoutMs: 3000, longestTimeoutMs: 3000, servers });
    await until(() => good.talks.some(({ handshake }) => handshake?.sessionId === 7n), { timeoutMs: 20_000 });
    expect(await held.end()).toBe('ended');
  });
});

function never(): never {
  throw new Error('no server');
}
