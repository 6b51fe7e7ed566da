/**
 * Tests faults of the client library, with connections and sessions, that Petrel's store does not have. Each
 * test runs both in the same scenario.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { pingIntervalMs } from '../../src/lease/lease.js';
import { systemClock } from '../../src/ports/clock.js';
import type { StoreError } from '../../src/ports/store.js';
import { dialOver } from '../../src/zookeeper/dial.js';
import { parseConnectionString } from '../../src/zookeeper/index.js';
import { Session } from '../../src/zookeeper/session.js';
import { sharedZooKeeper, startZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { startProxy } from '../support/proxy.js';
import { startStopwatch } from '../support/stopwatch.js';
import { until } from '../support/until.js';
import {
  dataAnswer,
  emptyStat,
  FakeServer,
  handshakeAnswer,
  op,
  reply,
  type Script,
  type Talk,
} from './fake-server.js';
import { connectedProbe, failureOf, probe } from './probe.js';
import { connectedStock, crashOfStock, type StockError, stock } from './stock.js';
import { twoWays } from './two-ways.js';

const sessionTimeoutMs = 6_000;
const nothing = Buffer.alloc(0);
/** Mode of an ephemeral znode. The library's `create` accepts any number as a mode. */
const ephemeral = 1;

describe('a server that falls silent (B1)', () => {
  it('B1 frozen: noticed before the session can have ended', async () => {
    await using server = await startZooKeeper({ tickTimeMs: 300 });
    using theirs = await connectedStock(server.connectString, { sessionTimeout: sessionTimeoutMs });
    await using ours = await connectedProbe(server.connectString, { sessionTimeoutMs });
    await server.pause();
    const sinceFrozen = startStopwatch();
    const call = failureOf(ours.store.getData('/'));
    await until(() => ours.states.includes('SUSPENDED'), { intervalMs: 5 });
    expect(sinceFrozen.ms).toBeLessThan(sessionTimeoutMs);
    expect((await call).code).toBe('CONNECTION_LOSS');
    await until(() => ours.store.state === 'LOST');
    expect(theirs.events).toEqual(['connected']);
    expect(theirs.client.getState().name).toBe('SYNC_CONNECTED');
    await server.resume();
  });

  it('B1 mute: another server is tried in time for the session to live on', async () => {
    await using theirWays = await twoWays();
    await using ourWays = await twoWays();
    using theirs = await connectedStock(theirWays.connectString, { sessionTimeout: sessionTimeoutMs });
    await using ours = await connectedProbe(ourWays.connectString, { sessionTimeoutMs });
    const { sessionId } = ours.store;
    theirWays.which().used.blackHole();
    ourWays.which().used.blackHole();
    const mutedAtMs = performance.now();
    const sinceMuted = startStopwatch();
    expect((await failureOf(ours.store.getData('/'))).code).toBe('CONNECTION_LOSS');
    await ours.store.connected();
    expect(sinceMuted.ms).toBeLessThan(sessionTimeoutMs);
    expect(ours.store.sessionId).toBe(sessionId);
    await sleep(sessionTimeoutMs - (performance.now() - mutedAtMs));
    expect(theirs.client.getState().name).toBe('SYNC_CONNECTED');
    expect(theirWays.which().other.accepted).toBe(0);
  });

  it('B1 chattering: a server that sends events but no answers is left, too', async () => {
    await using fake = await FakeServer.start({
      handshake: (talk) => {
        talk.grant({ timeoutMs: 600 });
        const timer = setInterval(() => (talk.open ? talk.notify(3, '/') : clearInterval(timer)), 50);
      },
      ping: () => undefined,
    });
    using theirs = await connectedStock(fake.address, { sessionTimeout: 600 });
    await using ours = await connectedProbe(fake.address, { sessionTimeoutMs: 600 });
    await until(() => ours.states.includes('SUSPENDED'));
    expect(theirs.events).toEqual(['connected']);
  });
});

describe('a server that does not answer the handshake (B2)', () => {
  it('B2 the next server is tried after its share of the session timeout', async () => {
    const target = await sharedZooKeeper();
    await using mute = await FakeServer.start({ handshake: () => undefined });
    await using ourWay = await startProxy({ target });
    await using theirWay = await startProxy({ target });
    const theirTimeoutMs = 1500;
    using theirs = stock(`${mute.address},${theirWay.address}`, { sessionTimeout: theirTimeoutMs });
    await using ours = await connectedProbe(`${mute.address},${ourWay.address}`, { sessionTimeoutMs });
    // The store tries the mute server next, no matter which server it tried first at the start.
    const met = mute.talks.length;
    ourWay.resetAll();
    await until(() => mute.talks.length > met);
    await ours.store.connected();
    expect(ours.states).toEqual(['CONNECTED', 'SUSPENDED', 'CONNECTED']);

    const before = mute.talks.length;
    theirs.client.on('connected', () => theirWay.resetAll());
    theirs.client.connect();
    await until(() => mute.talks.length > before);
    const seen = theirs.events.length;
    await sleep(2 * theirTimeoutMs);
    expect(theirs.events.length).toBe(seen);
    expect(mute.talks.length).toBe(before + 1);
    expect(mute.open).toBe(1);
  });
});

describe('an answer cut in its middle (B3)', () => {
  /** The first connection ends in the middle of an answer. The second one grants the same session. */
  const script: Script = {
    request: (talk, { xid }) => {
      if (talk.index > 0) return;
      const whole = reply(xid, { zxid: (1n << 32n) + 5n, body: Buffer.alloc(36) });
      talk.raw(whole.subarray(0, 24));
      talk.end();
    },
  };

  it('B3 the rest of it is not taken for the start of the next connection', async () => {
    await using ourFake = await FakeServer.start(script);
    await using theirFake = await FakeServer.start(script);
    await using ours = await connectedProbe(ourFake.address);
    expect((await failureOf(ours.store.getData('/a'))).code).toBe('CONNECTION_LOSS');
    await ours.store.connected();
    expect(ours.store.sessionId).toBe(7n);
    expect(ours.store.negotiatedTimeoutMs).toBe(2000);

    using theirs = await connectedStock(theirFake.address);
    theirs.client.getData('/a', () => undefined);
    await once(theirs.client, 'disconnected');
    await once(theirs.client, 'connected');
    expect(theirs.client.getSessionId().readBigInt64BE()).not.toBe(7n);
  });

  it('B3 another session than the own one is not accepted', async () => {
    const other: Script = {
      handshake: (talk) => talk.grant({ sessionId: talk.index === 0 ? 7n : 8n }),
      request: (talk) => talk.end(),
    };
    await using ourFake = await FakeServer.start(other);
    await using theirFake = await FakeServer.start(other);
    await using ours = await connectedProbe(ourFake.address, { sessionTimeoutMs: 2000 });
    await failureOf(ours.store.getData('/a'));
    await until(() => ours.store.state === 'LOST');
    expect(ours.states).toEqual(['CONNECTED', 'SUSPENDED', 'LOST']);
    expect(ours.store.sessionId).toBe(7n);
    expect((await failureOf(ours.store.getData('/a'))).message).toContain(
      'requested session 0x0000000000000007',
    );

    using theirs = await connectedStock(theirFake.address);
    theirs.client.getData('/a', () => undefined);
    await once(theirs.client, 'disconnected');
    await once(theirs.client, 'connected');
    expect(theirs.client.getSessionId().readBigInt64BE()).toBe(8n);
  });

  it('B3 an answer may come in any pieces', async () => {
    await using fake = await FakeServer.start({
      handshake: (talk) => {
        for (const byte of handshakeAnswer({ sessionId: 7n, timeoutMs: 2000 })) talk.raw(Buffer.from([byte]));
      },
      request: (talk) => {
        const [first, second] = talk.requests;
        if (!first || !second) return;
        const answers = [reply(first.xid, { error: -101 }), reply(second.xid, { error: -103 })];
        for (const byte of Buffer.concat(answers)) talk.raw(Buffer.from([byte]));
      },
    });
    await using ours = await connectedProbe(fake.address);
    const [first, second] = [failureOf(ours.store.getData('/a')), failureOf(ours.store.getData('/b'))];
    expect([(await first).code, (await second).code]).toEqual(['NO_NODE', 'BAD_VERSION']);
  });
});

/** Answers like a real server after the session has ended: reports the end, and closes the connection. */
function grantThenExpire(talk: Talk): void {
  if (talk.index === 0) {
    talk.grant();
  } else {
    talk.expire();
    talk.end();
  }
}

describe('requests while there is no connection (B5)', () => {
  const script: Script = {
    handshake: grantThenExpire,
    request: (talk) => talk.end(),
  };

  it('B5 are refused at once, and none is left unsettled when the session has ended', async () => {
    await using ourFake = await FakeServer.start(script);
    await using theirFake = await FakeServer.start(script);
    await using ours = await connectedProbe(ourFake.address);
    const whileSuspended: Promise<StoreError>[] = [];
    ours.store.onState((state) => {
      if (state === 'SUSPENDED') whileSuspended.push(failureOf(ours.store.getData('/b')));
    });
    expect((await failureOf(ours.store.getData('/a'))).code).toBe('CONNECTION_LOSS');
    await until(() => ours.store.state === 'LOST');
    expect((await Promise.all(whileSuspended)).map(({ code }) => code)).toEqual(['CONNECTION_LOSS']);
    expect((await failureOf(ours.store.getData('/c'))).code).toBe('SESSION_EXPIRED');

    using theirs = await connectedStock(theirFake.address);
    let settled = false;
    theirs.client.once('disconnected', () => {
      theirs.client.getData('/b', () => {
        settled = true;
      });
    });
    theirs.client.getData('/a', () => undefined);
    await once(theirs.client, 'expired');
    await until(() => theirFake.open === 0);
    await sleep(300);
    expect(settled).toBe(false);
  });
});

describe('closing (B7)', () => {
  it('B7 before connecting', async () => {
    await using fake = await FakeServer.start();
    await using ours = probe(fake.address);
    expect(await ours.store.close()).toBe(false);
    expect(ours.states).toEqual(['CLOSED']);

    using theirs = stock(fake.address);
    expect(() => theirs.client.close()).toThrow(TypeError);
    expect(fake.talks.every(({ handshake }) => handshake === undefined)).toBe(true);
  });

  it('B7 during the handshake: waits for the session in order to end it', async () => {
    await using ourFake = await FakeServer.start({ handshake: () => undefined });
    await using theirFake = await FakeServer.start({ handshake: () => undefined, close: () => undefined });
    await using ours = probe(ourFake.address);
    await until(() => ourFake.talks[0]?.handshake);
    const closed = ours.store.close();
    expect(ours.store.state).toBe('CLOSED');
    ourFake.talks[0]?.grant();
    expect(await closed).toBe(true);
    expect(ourFake.talks[0]?.types).toEqual([op.CLOSE_SESSION]);

    using theirs = stock(theirFake.address);
    theirs.client.connect();
    await until(() => theirFake.talks[0]?.handshake);
    theirs.client.close();
    // The library requests the end of a session that it does not have yet.
    await until(() => theirFake.talks[0]?.types.includes(op.CLOSE_SESSION));
  });

  it('B7 on a dead link: ends when its time is over', async () => {
    await using fake = await FakeServer.start({ close: () => undefined });
    await using ours = await connectedProbe(fake.address);
    using theirs = await connectedStock(fake.address);
    theirs.client.close();
    const call = failureOf(ours.store.getData('/'));
    expect(await ours.store.close({ timeoutMs: 300 })).toBe(false);
    expect((await call).code).toBe('SESSION_EXPIRED');
    await until(() => fake.open === 1);
    await sleep(1000);
    expect(theirs.events).toEqual(['connected']);
    expect(fake.open).toBe(1);
  });

  it('B7 while disconnected: connects again to end the session', async () => {
    const target = await sharedZooKeeper();
    await using observer = await connectedProbe(target);
    const root = await observer.store.create(uniqueRoot(), nothing, 'persistent');
    await using proxy = await startProxy({ target });
    await using ours = await connectedProbe(proxy.address, { sessionTimeoutMs: 10_000 });
    using theirs = await connectedStock(proxy.address, { sessionTimeout: 10_000 });
    await ours.store.create(`${root}/ours`, nothing, 'ephemeral');
    await new Promise((resolve) => theirs.client.create(`${root}/theirs`, ephemeral, resolve));
    proxy.refuse();
    proxy.resetAll();
    await until(() => ours.store.state === 'SUSPENDED' && theirs.events.includes('disconnected'));
    const closed = ours.store.close({ timeoutMs: 8000 });
    expect(() => theirs.client.close()).not.toThrow();
    await proxy.heal();
    expect(await closed).toBe(true);
    expect((await observer.store.getChildren(root)).children).toEqual(['theirs']);
  });

  it('B7 ends the session, once, and settles everything', async () => {
    await using observer = await connectedProbe(await sharedZooKeeper());
    const path = await observer.store.create(`${uniqueRoot()}`, nothing, 'persistent');
    await using ours = await connectedProbe(await sharedZooKeeper());
    await ours.store.create(`${path}/e`, nothing, 'ephemeral');
    const read = ours.store.getData(path);
    const closes = [ours.store.close(), ours.store.close()];
    expect(await Promise.all(closes)).toEqual([true, true]);
    expect((await read).stat.version).toBe(0);
    expect(await observer.store.exists(`${path}/e`)).toBeNull();
    expect((await failureOf(ours.store.getData(path))).code).toBe('SESSION_EXPIRED');
    expect((await failureOf(ours.store.connected())).code).toBe('SESSION_EXPIRED');
    expect(ours.states).toEqual(['CONNECTED', 'CLOSED']);
  });
});

describe('what must come first on a new connection (B9)', () => {
  /**
   * The first connection breaks at a read. The server destroys the next two as soon as it has accepted them.
   */
  const script: Script = {
    accepted: (talk) => {
      if (talk.index > 0 && talk.index < 3) talk.destroy();
    },
    request: (talk, { xid, type }) => {
      if (type === op.AUTH) talk.reply(-4);
      else if (type === op.GET_DATA && talk.index === 0 && talk.requests.length > 2) talk.destroy();
      else if (type === op.GET_DATA) talk.reply(xid, { body: dataAnswer(nothing) });
      else talk.reply(xid, { body: type === op.EXISTS ? emptyStat : nothing });
    },
  };

  it('B9 credentials, then watches, each once', async () => {
    await using ourFake = await FakeServer.start(script);
    await using theirFake = await FakeServer.start(script);
    await using ours = await connectedProbe(ourFake.address, {
      auth: [{ scheme: 'digest', credentials: 'user:secret' }],
    });
    await ours.store.getData('/a', { watch: true });
    await failureOf(ours.store.getData('/a'));
    await ours.store.connected();
    await ours.store.getData('/b');
    expect(ourFake.talks.at(-1)?.types).toEqual([op.AUTH, op.SET_WATCHES, op.GET_DATA]);

    using theirs = stock(theirFake.address);
    theirs.client.addAuthInfo('digest', Buffer.from('user:secret'));
    theirs.client.connect();
    await once(theirs.client, 'connected');
    await new Promise((resolve) => theirs.client.exists('/a', () => undefined, resolve));
    theirs.client.once('disconnected', () => theirs.client.getData('/b', () => undefined));
    theirs.client.getData('/a', () => undefined);
    await until(() => theirFake.talks[3]?.types.includes(op.SET_WATCHES));
    expect(theirFake.talks[3]?.types[0]).toBe(op.GET_DATA);
    expect(theirFake.talks[3]?.types.filter((type) => type === op.AUTH)).not.toHaveLength(1);
  });
});

describe('pings (B10)', () => {
  it('B10 go out however much comes in', async () => {
    const timeoutMs = 4_000;
    const script: Script = {
      handshake: (talk) => {
        talk.grant({ timeoutMs });
        const timer = setInterval(() => (talk.open ? talk.notify(3, '/') : clearInterval(timer)), 100);
      },
    };
    await using ourFake = await FakeServer.start(script);
    await using theirFake = await FakeServer.start(script);
    await using ours = await connectedProbe(ourFake.address, { sessionTimeoutMs: timeoutMs });
    using theirs = await connectedStock(theirFake.address, { sessionTimeout: timeoutMs });
    await until(() => (ourFake.talks[0]?.pings ?? 0) >= 4);
    expect(ours.states).toEqual(['CONNECTED']);
    expect(theirs.events).toEqual(['connected']);
    expect(theirFake.talks[0]?.pings).toBe(0);
  });

  it('B10 need not go out while requests do', async () => {
    const timeoutMs = 8_000;
    await using fake = await FakeServer.start({
      handshake: (talk) => talk.grant({ timeoutMs }),
      request: (talk, { xid }) => talk.reply(xid, { body: dataAnswer(nothing) }),
    });
    await using ours = await connectedProbe(fake.address, { sessionTimeoutMs: timeoutMs });
    const untilMs = performance.now() + 1.25 * pingIntervalMs(timeoutMs);
    while (performance.now() < untilMs) await ours.store.getData('/');
    expect(fake.talks[0]?.pings).toBe(0);
    expect(ours.states).toEqual(['CONNECTED']);
  });
});

describe('connecting twice (B12)', () => {
  it('B12 makes one connection', async () => {
    let mostOpen = 0;
    await using fake = await FakeServer.start({
      handshake: (talk) => {
        mostOpen = Math.max(mostOpen, fake.open);
        talk.grant();
        if (talk.index < 5) talk.end();
      },
    });
    const session = new Session({
      servers: parseConnectionString(`${fake.address},127.0.0.1:1`),
      sessionTimeoutMs: 2000,
      clock: systemClock,
      credentials: [],
      dial: dialOver(undefined),
      isSecure: false,
      random: Math.random,
      lookup: undefined,
      resume: undefined,
      logger: { debug() {}, info() {}, warn() {} },
      onState: () => session.connect(),
      onChange: () => undefined,
    });
    session.connect();
    session.connect();
    await until(() => fake.talks.length >= 6 && session.state === 'CONNECTED');
    expect(mostOpen).toBe(1);
    await session.endSession(0, false);

    await using closing = await FakeServer.start({
      handshake: (talk) => {
        talk.grant();
        talk.end();
      },
    });
    const crash = await crashOfStock(
      closing.address,
      `client.on('disconnected', () => client.connect()); client.connect();`,
    );
    expect(crash).toContain('TypeError');
  });
});

describe('the end of a session (B14)', () => {
  it('B14 is final, and calls say so', async () => {
    const script: Script = {
      handshake: grantThenExpire,
      request: (talk) => talk.end(),
    };
    await using ourFake = await FakeServer.start(script);
    await using theirFake = await FakeServer.start(script);
    await using ours = await connectedProbe(ourFake.address);
    await failureOf(ours.store.getData('/'));
    await until(() => ours.store.state === 'LOST');
    await until(() => ourFake.open === 0);
    expect(ours.states).toEqual(['CONNECTED', 'SUSPENDED', 'LOST']);
    expect((await failureOf(ours.store.getData('/'))).code).toBe('SESSION_EXPIRED');
    expect((await failureOf(ours.store.connected())).code).toBe('SESSION_EXPIRED');
    expect(await ours.store.close()).toBe(false);
    expect(ours.store.state).toBe('LOST');
    expect(ourFake.talks.length).toBe(2);

    using theirs = await connectedStock(theirFake.address);
    theirs.client.getData('/', () => undefined);
    await once(theirs.client, 'expired');
    await until(() => theirs.events.at(-1) === 'disconnected');
    expect(theirs.events).toEqual(['connected', 'disconnected', 'expired', 'disconnected']);
    const error = await new Promise<StockError>((resolve) => theirs.client.getData('/', resolve));
    expect(error?.name).toBe('CONNECTION_LOSS');
  });

  it('B14 comes at 4/3 of its timeout without contact, even if nobody can be reached', async () => {
    await using proxy = await startProxy({ target: await sharedZooKeeper() });
    await using ours = await connectedProbe(proxy.address, { sessionTimeoutMs: 3000 });
    using theirs = await connectedStock(proxy.address, { sessionTimeout: 3000 });
    proxy.refuse();
    proxy.resetAll();
    const cutAtMs = performance.now();
    const sinceCut = startStopwatch();
    await until(() => ours.states.includes('LOST'), { intervalMs: 5 });
    expect(performance.now() - cutAtMs).toBeGreaterThan(3100);
    expect(sinceCut.ms).toBeLessThan(6000);
    expect(ours.states).toEqual(['CONNECTED', 'SUSPENDED', 'LOST']);
    await sleep(1000);
    expect(theirs.events).not.toContain('expired');
  });
});
