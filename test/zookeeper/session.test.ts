/** Tests a session over several connections, in time that only the test moves. */
import { describe, expect, it } from 'vitest';
import { JuteWriter } from '../../src/embedded/jute.js';
import { parseConnectionString } from '../../src/zookeeper/index.js';
import { longestPauseMs } from '../../src/zookeeper/reconnecting.js';
import { Session } from '../../src/zookeeper/session.js';
import { HandClock, settled } from '../support/hand-clock.js';
import { dataAnswer, emptyStat, handshakeAnswer, op } from './fake-server.js';
import { failureOf } from './probe.js';
import { connectedStage, failureNow, type Stage, type Stream, soon, stage, streamAt } from './stage.js';

const sessionTimeoutMs = 6_000;
const expiryMs = (sessionTimeoutMs * 4) / 3;
const nothing: Buffer = Buffer.alloc(0);
const resume = { id: 9n, password: Buffer.from('0123456789abcdef') };

/** Ends the newest connection, and returns the next one. */
async function reconnected(on: Stage): Promise<Stream> {
  const { length } = on.streams;
  await streamAt(on, -1).close();
  for (let ms = 0; ms < 4_000 && on.streams.length === length; ms += 50) await on.clock.advance(50);
  return streamAt(on, length);
}

/** Returns a stage whose session watches `/a`, and the stream of its new connection. */
async function reconnectedWithWatch(): Promise<{ on: Stage & { stream: Stream }; next: Stream }> {
  const on = await connectedStage();
  const read = on.store.getData('/a', { watch: true });
  await on.stream.reply(1, { body: dataAnswer(nothing) });
  await soon(read);
  return { on, next: await reconnected(on) };
}

describe('the end of a session without contact', () => {
  it('comes at four thirds of the session timeout, and not before', async () => {
    const { clock, states, store, stream } = await connectedStage();
    await clock.advance(1_000);
    await stream.notify(3, '/a');
    await clock.advance(expiryMs - 1);
    expect(states).not.toContain('LOST');
    await clock.advance(1);
    expect(states).toEqual(['CONNECTED', 'SUSPENDED', 'LOST']);
    const error = await failureNow(store.getData('/a'));
    expect(error.code).toBe('SESSION_EXPIRED');
    expect(error.message).toContain(
      'no contact for 4/3 of the session timeout: connection to 10.0.0.1 port 2181: ',
    );
  });

  it('is noticed by the first look of a process whose timers did not fire', async () => {
    const { clock, states, store } = await connectedStage();
    clock.freeze(expiryMs);
    expect(store.state).toBe('LOST');
    expect(states).toEqual(['CONNECTED', 'SUSPENDED', 'LOST']);
  });

  it('is put off by every answer', async () => {
    const { clock, store, stream } = await connectedStage();
    await clock.advance(1_500);
    await stream.pong();
    await stream.close();
    await clock.advance(expiryMs - 1);
    expect(store.state).toBe('SUSPENDED');
    await clock.advance(1);
    expect(store.state).toBe('LOST');
  });

  it('is put off by a resumed session', async () => {
    const on = await connectedStage();
    const next = await reconnected(on);
    await on.clock.advance(1_000);
    await next.grant();
    await next.close();
    await on.clock.advance(expiryMs - 1);
    expect(on.store.state).toBe('SUSPENDED');
  });

  it('waits for the longest timeout that a server has granted, because the ensemble may keep to it', async () => {
    const on = await connectedStage();
    const next = await reconnected(on);
    await next.grant({ timeoutMs: 3_000 });
    expect(on.store.negotiatedTimeoutMs).toBe(3_000);
    expect(on.store.longestTimeoutMs).toBe(sessionTimeoutMs);
    await next.close();
    await on.clock.advance(expiryMs - 1);
    expect(on.store.state).toBe('SUSPENDED');
    await on.clock.advance(1);
    expect(on.store.state).toBe('LOST');
  });

  it('never comes before there is a session', async () => {
    const { clock, states } = await stage();
    await clock.advance(100 * sessionTimeoutMs);
    expect(states).toEqual([]);
  });

  it('ends all attempts to connect, and leaves no timer behind', async () => {
    const { clock, streams } = await connectedStage();
    await clock.advance(expiryMs);
    expect(clock.armed).toBe(0);
    const { length } = streams;
    await clock.advance(100 * sessionTimeoutMs);
    expect(streams).toHaveLength(length);
    expect(streams.every(({ isDestroyed }) => isDestroyed)).toBe(true);
  });
});

describe('the handshake', () => {
  it('asks for a new session at first', async () => {
    const { streams } = await stage('10.0.0.1:2181', { sessionTimeoutMs: 4_321 });
    const stream = streamAt({ streams }, 0);
    stream.events.opened();
    expect(stream.handshake).toEqual({
      version: 0,
      lastZxidSeen: 0n,
      timeoutMs: 4_321,
      sessionId: 0n,
      password: '\0'.repeat(16),
    });
  });

  it('asks for the same session again, and for a server that knows the last reply', async () => {
    const on = await connectedStage();
    const reads = [on.store.getData('/a'), on.store.getData('/b')];
    await on.stream.reply(1, { zxid: 12n, body: dataAnswer(nothing) });
    await on.stream.reply(2, { zxid: 5n, body: dataAnswer(nothing) });
    await soon(Promise.all(reads));
    const next = await reconnected(on);
    next.events.opened();
    expect(next.handshake).toMatchObject({ lastZxidSeen: 12n, sessionId: 7n, password: 'sixteen bytes...' });
  });

  it('attaches to an existing session, if there is one', async () => {
    const { store, streams } = await stage('10.0.0.1:2181', { resume });
    const stream = streamAt({ streams }, 0);
    await stream.grant({ sessionId: 9n });
    expect(stream.handshake).toMatchObject({ sessionId: 9n, password: '0123456789abcdef' });
    expect(store).toMatchObject({ state: 'CONNECTED', sessionId: 9n });
  });

  it('that finds an existing session gone loses it', async () => {
    const { store, streams, states } = await stage('10.0.0.1:2181', { resume });
    await streamAt({ streams }, 0).grant({ sessionId: 0n, timeoutMs: 0 });
    expect(states).toEqual(['LOST']);
    expect(await failureNow(store.getData('/a'))).toMatchObject({
      code: 'SESSION_EXPIRED',
      message: 'get the data of /a: the ensemble has ended the session',
    });
  });

  it('that is granted another session leaves that server', async () => {
    const on = await connectedStage();
    const next = await reconnected(on);
    await next.grant({ sessionId: 8n });
    expect(next.isDestroyed).toBe(true);
    expect(on.store).toMatchObject({ state: 'SUSPENDED', sessionId: 7n });
    expect((await failureNow(on.store.getData('/a'))).message).toContain(
      'requested session 0x0000000000000007, received 0x0000000000000008',
    );
  });

  it('that is granted no new session leaves that server, and goes on', async () => {
    const { clock, store, streams } = await stage();
    await streamAt({ streams }, 0).grant({ sessionId: 0n, timeoutMs: 0 });
    expect((await failureNow(store.getData('/a'))).message).toContain('the server granted no session');
    await clock.advance(1_000);
    await streamAt({ streams }, 1).grant();
    expect(store.state).toBe('CONNECTED');
  });

  it('attaches to a session whose id a signed number cannot hold', async () => {
    const { store, streams } = await stage('10.0.0.1:2181', { resume: { ...resume, id: -2n } });
    const stream = streamAt({ streams }, 0);
    await stream.grant({ sessionId: -2n });
    expect(stream.handshake).toMatchObject({ sessionId: -2n });
    expect(store.sessionId).toBe(2n ** 64n - 2n);
  });

  it.each([
    ['no id', handshakeAnswer({ sessionId: 0n, timeoutMs: sessionTimeoutMs }), 'a session without an id'],
    [
      'a password of three bytes',
      new JuteWriter().int(0).int(sessionTimeoutMs).long(7n).buffer(Buffer.from('abc')).packet(),
      'a session password of 3 bytes, expected 16',
    ],
  ])('that is granted a session with %s leaves that server', async (_, answer, problem) => {
    const { store, streams } = await stage();
    const stream = streamAt({ streams }, 0);
    stream.events.opened();
    await stream.send(answer);
    expect(stream.isDestroyed).toBe(true);
    expect((await failureNow(store.getData('/a'))).message).toContain(problem);
  });

  it('may be answered without a password', async () => {
    const on = await stage();
    const stream = streamAt(on, 0);
    stream.events.opened();
    await stream.send(new JuteWriter().int(0).int(sessionTimeoutMs).long(7n).buffer(null).packet());
    expect(on.store.state).toBe('CONNECTED');
    expect(on.store.sessionPassword).toEqual(Buffer.alloc(16));
  });
});

describe('the lease', () => {
  it('does not outlast a shorter timeout that a server may have granted in a lost answer', async () => {
    const on = await connectedStage();
    expect(on.store.provenAliveAtMs()).toBe(0);
    const next = await reconnected(on);
    next.events.opened();
    const sentAtMs = on.clock.monotonicMs();
    expect(on.store.provenAliveAtMs()).toBe(Math.min(0, sentAtMs - 0.45 * sessionTimeoutMs));
    expect(on.store.provenAliveAtMs()).toBeLessThan(0);
  });

  it('of a new session starts when its handshake was sent, and no earlier handshake casts doubt on it', async () => {
    const { clock, store, streams } = await stage();
    streamAt({ streams }, 0).events.opened();
    await streamAt({ streams }, 0).close();
    await clock.advance(1_000);
    const stream = streamAt({ streams }, 1);
    stream.events.opened();
    const sentAtMs = clock.monotonicMs();
    clock.freeze(100);
    await stream.send(handshakeAnswer({ sessionId: 7n, timeoutMs: sessionTimeoutMs }));
    expect(store.provenAliveAtMs()).toBe(sentAtMs);
  });

  it('does not end later because a server resumed the session with a shorter timeout', async () => {
    const on = await connectedStage();
    await on.clock.advance(3_900);
    await on.stream.close();
    await streamAt(on, 1).grant({ timeoutMs: 4_000 });
    // The lease still ends at 5.4 s. It lasts for 0.9 of the timeout.
    expect(on.store.provenAliveAtMs()).toBe(0.9 * 6_000 - 0.9 * 4_000);
  });

  it('is not proven by pings alone', async () => {
    const { clock, store, stream } = await connectedStage();
    for (let pings = 1; pings <= 4; pings += 1) {
      await clock.advance(1_500);
      await stream.pong();
    }
    expect(store.provenAliveAtMs()).toBe(0);
  });

  it('is shortened by a resumed session with a shorter timeout', async () => {
    const on = await connectedStage();
    const next = await reconnected(on);
    const resumedAtMs = on.clock.monotonicMs();
    await next.grant({ timeoutMs: 4_000 });
    // The lease was 5.4 s from 0. A lease of 3.6 s that starts at the handshake ends earlier.
    const leaseMs = 0.9 * 4_000;
    expect(on.store.provenAliveAtMs() + leaseMs).toBeLessThanOrEqual(resumedAtMs + leaseMs);
    expect(on.store.negotiatedTimeoutMs).toBe(4_000);
  });
});

describe('watch events', () => {
  it.each([-1, 0, 1, 2, 3, 4, 5, 6, 99])('of type %i report their znode, and do no harm', async (type) => {
    const { store, stream, changes } = await connectedStage();
    await stream.notify(type, '/a');
    expect(changes).toEqual(['/a']);
    expect(store.state).toBe('CONNECTED');
  });

  it('without a znode report nothing, and do no harm', async () => {
    const { store, stream, changes } = await connectedStage();
    await stream.notify(-1, '');
    expect(changes).toEqual([]);
    expect(store.state).toBe('CONNECTED');
  });

  it.each([1, 2, 3, 4])('of type %i use up the watch: it is not set again', async (type) => {
    const on = await connectedStage();
    // Event 1 ends the watch of a missing znode, 2 and 3 those of an existing one, and 4 that of children.
    const read: Promise<unknown> =
      type === 4 ? on.store.getChildren('/a', { watch: true }) : on.store.exists('/a', { watch: true });
    const children = new JuteWriter().int(0).raw(emptyStat).bytes();
    const body = type === 4 ? children : emptyStat;
    await on.stream.reply(1, type === 1 ? { error: -101 } : { body });
    await soon(read);
    await on.stream.notify(type, '/a');
    const next = await reconnected(on);
    await next.grant();
    expect(next.types).toEqual([]);
  });
});

describe('a chroot', () => {
  it('is in front of every path that is sent, and of none that is reported', async () => {
    const { store, stream, changes } = await connectedStage('10.0.0.1:2181/root');
    const created = store.create('/a', nothing, 'persistent');
    expect(stream.requests[0]?.body.string()).toBe('/root/a');
    await stream.reply(1, { body: new JuteWriter().string('/root/a').bytes() });
    expect(await soon(created)).toBe('/a');
    await stream.notify(3, '/root/b');
    expect(changes).toEqual(['/b']);
  });
});

describe('a request that is too large for a server', () => {
  it('is refused, to the byte, and the connection goes on', async () => {
    const { store, stream } = await connectedStage();
    const most = 0xfffff;
    // The header has 8 bytes, the path 6, the length of the data 4, and the version 4.
    const room = most - 22;
    expect(await failureNow(store.set('/a', Buffer.alloc(room + 1), 0))).toMatchObject({
      code: 'BAD_ARGUMENTS',
      message:
        'set /a: the request is 1048576 bytes long, but ZooKeeper accepts at most 1048575, including path and ACL',
    });
    expect(stream.types).toEqual([]);
    void store.set('/a', Buffer.alloc(room), 0).catch(() => null);
    expect(stream.types).toEqual([op.SET_DATA]);
    expect(store.state).toBe('CONNECTED');
  });
});

describe('credentials and watches', () => {
  const credentials = [
    { scheme: 'digest', credentials: 'user:secret' },
    { scheme: 'digest', credentials: 'other:secret' },
  ];

  it('all credentials are answered before the session counts as connected', async () => {
    const on = await stage('10.0.0.1:2181', { credentials });
    const stream = streamAt(on, 0);
    await stream.grant();
    const sent = stream.requests.map(({ type, body }) => [
      type,
      body.int(),
      body.string(),
      body.buffer()?.toString(),
    ]);
    expect(sent).toEqual([
      [op.AUTH, 0, 'digest', 'user:secret'],
      [op.AUTH, 0, 'digest', 'other:secret'],
    ]);
    await stream.reply(-4);
    expect(on.states).toEqual([]);
    await stream.reply(-4);
    expect(on.states).toEqual(['CONNECTED']);
    expect(on.store.identities).toEqual(['digest:user', 'digest:other']);
  });

  it('rejected credentials end the session', async () => {
    const on = await stage('10.0.0.1:2181', { credentials });
    const stream = streamAt(on, 0);
    await stream.grant();
    await stream.reply(-4);
    await stream.reply(-4, { error: -115 });
    expect(on.states).toEqual(['LOST']);
    const error = await failureNow(on.store.getData('/a'));
    expect(error.code).toBe('AUTH_FAILED');
    expect(error.message).toContain('the server rejected the credentials');
  });

  it('watches are set again before any request, as of the last reply', async () => {
    const on = await connectedStage('10.0.0.1:2181/root');
    const reads = [
      on.store.getData('/a', { watch: true }),
      on.store.getChildren('/b', { watch: true }),
      on.store.exists('/c', { watch: true }).catch(() => null),
      on.store.getData('/unwatched'),
    ];
    await on.stream.reply(1, { zxid: 21n, body: dataAnswer(nothing) });
    await on.stream.reply(2, { zxid: 21n, body: new JuteWriter().int(0).raw(emptyStat).bytes() });
    await on.stream.reply(3, { zxid: 21n, error: -101 });
    await on.stream.reply(4, { zxid: 21n, body: dataAnswer(nothing) });
    await soon(Promise.all(reads));
    const next = await reconnected(on);
    await next.grant();
    const call = on.store.getData('/d');
    const [first, second] = next.requests;
    expect([first?.type, second?.type]).toEqual([op.SET_WATCHES, op.GET_DATA]);
    const texts = () => first?.body.vector(() => first.body.string());
    expect(first?.body.long()).toBe(21n);
    expect([texts(), texts(), texts()]).toEqual([['/root/a'], ['/root/c'], ['/root/b']]);
    await next.reply(1);
    await next.reply(2, { body: dataAnswer(Buffer.from('d')) });
    expect((await soon(call)).data.toString()).toBe('d');
  });

  it('watches that take more than one packet are set again in several', async () => {
    const on = await connectedStage();
    const paths = ['a', 'b', 'c', 'd', 'e'].map((letter) => `/${letter.repeat(60_000)}`);
    for (const [index, path] of paths.entries()) {
      const read = on.store.getData(path, { watch: true });
      await on.stream.reply(index + 1, { body: dataAnswer(nothing) });
      await soon(read);
    }
    const next = await reconnected(on);
    await next.grant();
    expect(next.types).toEqual([op.SET_WATCHES, op.SET_WATCHES]);
    const set = next.requests.map(({ body }) => {
      body.long();
      return body.vector(() => body.string());
    });
    expect(set.flat()).toEqual(paths);
  });

  it('watches whose setting was cut off are no problem of their own', async () => {
    const { on, next } = await reconnectedWithWatch();
    await next.grant();
    const { length } = on.logged;
    await next.close();
    const problems = on.logged.slice(length).filter(({ level }) => level === 'debug');
    expect(problems.map(({ fields }) => fields)).toEqual([
      expect.objectContaining({
        problem: 'connection to 10.0.0.1 port 2181: the server closed the connection',
      }),
    ]);
  });

  it('watches that cannot be set again end the connection, because changes would go unnoticed', async () => {
    const { on, next } = await reconnectedWithWatch();
    await next.grant();
    const call = failureOf(on.store.getData('/b'));
    await next.reply(1, { error: -102 });
    expect(next.isDestroyed).toBe(true);
    expect((await soon(call)).code).toBe('CONNECTION_LOSS');
    expect((await failureNow(on.store.getData('/a'))).message).toContain(
      "cannot set watches again: the znode's ACL does not allow it with these credentials (NO_AUTH)",
    );
  });
});

describe('closing a session', () => {
  it('is confirmed by the answer of the server, and leaves no timer behind', async () => {
    const { clock, store, stream, states } = await connectedStage();
    const closed = store.close();
    expect(stream.types).toEqual([op.CLOSE_SESSION]);
    await stream.reply(1);
    expect(await soon(closed)).toBe(true);
    expect(stream.isDestroyed).toBe(true);
    expect(states).toEqual(['CONNECTED', 'CLOSED']);
    expect(clock.armed).toBe(0);
  });

  it('is confirmed by the answer that the session is over', async () => {
    const { store, stream, states } = await connectedStage();
    const closed = store.close();
    await stream.reply(1, { error: -112 });
    expect(await soon(closed)).toBe(true);
    expect(states).toEqual(['CONNECTED', 'CLOSED']);
  });

  it('is not confirmed by another error: it waits for its time to be over', async () => {
    const { clock, store, stream } = await connectedStage();
    let confirmed: boolean | undefined;
    void store.close({ timeoutMs: 1_000 }).then((value) => {
      confirmed = value;
    });
    await stream.reply(1, { error: -7 });
    await clock.advance(999);
    expect(confirmed).toBeUndefined();
    await clock.advance(1);
    expect(confirmed).toBe(false);
    expect(stream.isDestroyed).toBe(true);
  });

  it('goes on over the next connection, without credentials and watches', async () => {
    const on = await connectedStage();
    const closed = on.store.close();
    const next = await reconnected(on);
    await next.grant();
    expect(next.types).toEqual([op.CLOSE_SESSION]);
    await next.reply(1);
    expect(await soon(closed)).toBe(true);
  });

  it('is confirmed when the next connection shows that the session is over', async () => {
    const on = await connectedStage();
    const closed = on.store.close();
    const next = await reconnected(on);
    await next.grant({ sessionId: 0n, timeoutMs: 0 });
    expect(await soon(closed)).toBe(true);
    expect(on.states).toEqual(['CONNECTED', 'CLOSED']);
  });

  it('tries to end an existing session that it has not connected to yet', async () => {
    const { store, streams } = await stage('10.0.0.1:2181', { resume });
    const closed = store.close();
    const stream = streamAt({ streams }, 0);
    await stream.grant({ sessionId: 9n });
    await stream.reply(1);
    expect(await soon(closed)).toBe(true);
  });

  it.each([0, -115])('does not wait for credentials, and ignores the answer to them (%i)', async (error) => {
    const credentials = [{ scheme: 'digest', credentials: 'user:secret' }];
    const { store, streams, states } = await stage('10.0.0.1:2181', { credentials });
    const stream = streamAt({ streams }, 0);
    await stream.grant();
    const closed = store.close();
    await stream.reply(-4, { error });
    await expect(soon(closed)).rejects.toThrow('has not settled');
    await stream.reply(1);
    expect(await soon(closed)).toBe(true);
    expect(states).toEqual(['CLOSED']);
  });

  it('is not confirmed by time alone', async () => {
    const { clock, store, stream, logged } = await connectedStage();
    const closed = store.close({ timeoutMs: 20_000 });
    await stream.close();
    await clock.advance(19_999);
    expect(store.state).toBe('CLOSED');
    await expect(soon(closed)).rejects.toThrow('has not settled');
    await clock.advance(1);
    expect(await soon(closed)).toBe(false);
    // An outage does not matter to a store that is closing.
    expect(logged.filter(({ message }) => message.includes('has been unreachable'))).toEqual([]);
  });

  it('has one outcome, however often it is asked for', async () => {
    const { store, stream } = await connectedStage();
    const closes = Promise.all([store.close(), store.close({ abandon: true })]);
    expect(stream.types).toEqual([op.CLOSE_SESSION]);
    await stream.reply(1);
    expect(await soon(closes)).toEqual([true, true]);
  });

  it('waits for a session that a handshake may have opened', async () => {
    const { store, streams } = await stage();
    const stream = streamAt({ streams }, 0);
    stream.events.opened();
    const closed = store.close();
    await stream.send(handshakeAnswer({ sessionId: 7n, timeoutMs: sessionTimeoutMs }));
    expect(stream.types).toEqual([op.CLOSE_SESSION]);
    await stream.reply(1);
    expect(await soon(closed)).toBe(true);
  });

  it('ends at once if no handshake was sent', async () => {
    const { store, streams } = await stage();
    expect(await soon(store.close())).toBe(false);
    expect(streamAt({ streams }, 0).isDestroyed).toBe(true);
  });

  it('ends with the connection whose handshake was not answered: no session is known', async () => {
    const { store, streams } = await stage();
    streamAt({ streams }, 0).events.opened();
    const closed = store.close();
    await streamAt({ streams }, 0).close();
    expect(await soon(closed)).toBe(false);
  });

  it('abandons the session at once if that is what the caller wants', async () => {
    const { clock, store, stream } = await connectedStage();
    expect(await soon(store.close({ abandon: true }))).toBe(false);
    expect(stream.types).toEqual([]);
    expect(stream.isDestroyed).toBe(true);
    expect(clock.armed).toBe(0);
  });

  it('refuses all calls from then on', async () => {
    const { store, stream } = await connectedStage();
    void store.close();
    expect(await failureNow(store.getData('/a'))).toMatchObject({
      code: 'SESSION_EXPIRED',
      message: 'get the data of /a: the store was closed',
    });
    expect(stream.types).toEqual([op.CLOSE_SESSION]);
  });

  it('of a session that is over confirms nothing', async () => {
    const { clock, store, states } = await connectedStage();
    await clock.advance(expiryMs);
    expect(await soon(store.close())).toBe(false);
    expect(states.at(-1)).toBe('LOST');
  });
});

describe('a reply that says that the session is over', () => {
  it.each([
    [-112, 'SESSION_EXPIRED'],
    [-124, 'SESSION_CLOSED_REQUIRE_SASL_AUTH'],
  ])('error %i: ends the session at once', async (error, code) => {
    const { store, stream, states } = await connectedStage();
    const call = failureOf(store.getData('/a'));
    await stream.reply(1, { error });
    expect((await soon(call)).code).toBe(code);
    expect(states).toEqual(['CONNECTED', 'LOST']);
    expect(stream.isDestroyed).toBe(true);
  });

  it('error -118, the session has moved: does not end the session', async () => {
    const { store, stream, states } = await connectedStage();
    const call = failureOf(store.getData('/a'));
    await stream.reply(1, { error: -118 });
    expect((await soon(call)).code).toBe('SESSION_MOVED');
    expect(states).toEqual(['CONNECTED']);
  });
});

describe('finding a server', () => {
  const three = '10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181';

  it('goes through all servers at once, and pauses only after a whole round', async () => {
    const { clock, streams } = await stage(three);
    for (let index = 0; index < 3; index += 1) await streamAt({ streams }, index).close();
    expect(streams.map(({ endpoint }) => endpoint.address)).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    // Half of the first pause, which is at most 1 s.
    await clock.advance(499);
    expect(streams).toHaveLength(3);
    await clock.advance(501);
    expect(streams).toHaveLength(4);
  });

  it.each([
    { stoodMs: 1_000, dialled: 2 },
    { stoodMs: 999, dialled: 1 },
  ])('pauses after a connection only if it stood for less than a second ($stoodMs ms)', async (how) => {
    const { clock, streams } = await stage();
    await clock.advance(700);
    await streamAt({ streams }, 0).grant();
    await clock.advance(how.stoodMs);
    await streamAt({ streams }, 0).close();
    expect(streams).toHaveLength(how.dialled);
  });

  it('does not storm a server that grants sessions and hangs up', async () => {
    const on = await connectedStage();
    await on.stream.close();
    expect(on.streams).toHaveLength(1);
    await on.clock.advance(1_000);
    expect(on.streams).toHaveLength(2);
  });

  it('goes to the next server when the caller wants another one', async () => {
    const { store, stream, streams, states } = await connectedStage(three);
    const call = failureOf(store.getData('/a'));
    store.changeServer();
    expect(await soon(call)).toMatchObject({
      code: 'CONNECTION_LOSS',
      message: 'get the data of /a: switched to another server',
    });
    expect(stream.isDestroyed).toBe(true);
    await settled();
    await streamAt({ streams }, 1).grant();
    expect(states).toEqual(['CONNECTED', 'SUSPENDED', 'CONNECTED']);
  });

  it('does not leave a server that has not connected yet, for a caller who wants another one', async () => {
    const { store, streams } = await stage(three);
    store.changeServer();
    expect(streamAt({ streams }, 0).isDestroyed).toBe(false);
  });

  it('gives up a name whose resolver does not answer in the share of one server', async () => {
    const { clock, store } = await stage('silent:2181,silent2:2181', { lookup: () => undefined });
    await clock.advance(sessionTimeoutMs / 2);
    expect((await failureNow(store.getData('/a'))).message).toBe(
      'get the data of /a: not connected: silent:2181: the name was not resolved within 3000 ms; silent2:2181: no response yet',
    );
  });

  it('tries all addresses of a name, each for its part of the share', async () => {
    const { clock, streams } = await stage('zk:2181', {
      lookup: (_host, _options, callback) =>
        callback(null, [
          { address: '10.0.0.1', family: 4 },
          { address: '10.0.0.2', family: 4 },
        ]),
    });
    await clock.advance(sessionTimeoutMs / 2 - 1);
    expect(streams).toHaveLength(1);
    await clock.advance(1);
    expect(streams.map(({ endpoint }) => endpoint.address)).toEqual(['10.0.0.1', '10.0.0.2']);
  });

  it('goes to the next server, not to another address, when a connection that stood is lost', async () => {
    const on = await connectedStage('zk1:2181,zk2:2181', {
      lookup: (host, _options, callback) =>
        callback(null, [
          { address: host === 'zk1' ? '10.0.1.1' : '10.0.2.1', family: 4 },
          { address: host === 'zk1' ? '10.0.1.2' : '10.0.2.2', family: 4 },
        ]),
    });
    await on.clock.advance(1_400);
    await on.stream.close();
    expect(on.streams.map(({ endpoint }) => endpoint.address)).toEqual(['10.0.1.1', '10.0.2.1']);
  });

  it('tries no other address after the store was closed', async () => {
    const { store, streams } = await stage('zk:2181', {
      lookup: (_host, _options, callback) =>
        callback(null, [
          { address: '10.0.0.1', family: 4 },
          { address: '10.0.0.2', family: 4 },
        ]),
    });
    expect(await soon(store.close())).toBe(false);
    await settled();
    expect(streams).toHaveLength(1);
  });

  it('waits for nothing but its pause while there is neither session nor connection', async () => {
    const { clock, streams } = await stage();
    await streamAt({ streams }, 0).close();
    expect(clock.armed).toBe(1);
  });

  it('connects once, however often connect is called', async () => {
    const dialled: string[] = [];
    const session = new Session({
      servers: parseConnectionString('10.0.0.1:2181'),
      sessionTimeoutMs,
      clock: new HandClock(),
      credentials: [],
      dial: ({ address }) => {
        dialled.push(address);
        return { write() {}, destroy() {} };
      },
      isSecure: false,
      random: () => 0.5,
      lookup: (host, _options, callback) => callback(null, [{ address: host, family: 4 }]),
      resume: undefined,
      logger: { debug() {}, info() {}, warn() {} },
      onState() {},
      onChange() {},
    });
    session.connect();
    session.connect();
    await settled();
    expect(dialled).toEqual(['10.0.0.1']);
    await session.endSession(0, true);
  });

  it.each([
    [6_000, false, [1_000, 2_000, 2_000]],
    [6_000, true, [1_000, 1_000, 1_000]],
    [2_000, false, [500, 1_000, 2_000]],
    [12_000, true, [1_000, 1_500, 1_500]],
  ])(
    'pauses at most, with a timeout of %i ms and a session (%s), for %j',
    (timeoutMs, hasSession, pausesMs) => {
      expect([1, 2, 3].map((rounds) => longestPauseMs(timeoutMs, hasSession, rounds))).toEqual(pausesMs);
    },
  );

  it('dials nobody after the store was closed while a name was looked up', async () => {
    const answers: (() => void)[] = [];
    const { store, streams } = await stage('zk:2181', {
      lookup: (_host, _options, callback) => {
        answers.push(() => callback(null, [{ address: '10.0.0.1', family: 4 }]));
      },
    });
    expect(await soon(store.close())).toBe(false);
    for (const answer of answers) answer();
    await settled();
    expect(answers).toHaveLength(1);
    expect(streams).toEqual([]);
  });

  it('pauses longer after each round that failed, up to 2 s', async () => {
    const { clock, streams } = await stage('10.0.0.1:2181', { random: () => 0.999_999 });
    const pausesMs: number[] = [];
    for (let round = 1; round <= 5; round += 1) {
      const startedAtMs = clock.monotonicMs();
      await streamAt({ streams }, -1).close();
      while (streams.length === round && clock.monotonicMs() < 60_000) await clock.advance(50);
      pausesMs.push(clock.monotonicMs() - startedAtMs);
    }
    expect(pausesMs).toEqual([1_000, 2_000, 2_000, 2_000, 2_000]);
  });

  it('ends when the store is closed during a pause', async () => {
    const { clock, store, streams } = await stage();
    await streamAt({ streams }, 0).close();
    expect(await soon(store.close())).toBe(false);
    expect(clock.armed).toBe(0);
    await clock.advance(100_000);
    expect(streams).toHaveLength(1);
  });
});

it('the log says that no server can be reached, once a whole round has failed', async () => {
  const { logged, streams } = await stage('10.0.0.1:2181,10.0.0.2:2181');
  const warnings = () => logged.filter(({ level }) => level === 'warn').map(({ message }) => message);
  await streamAt({ streams }, 0).close();
  expect(warnings()).toEqual([]);
  await streamAt({ streams }, 1).close();
  expect(warnings()).toEqual([
    expect.stringMatching(
      /^ZooKeeper has been unreachable for 0\.0 s, retrying: connection to 10\.0\.0\.1 port/,
    ),
  ]);
});

it('the log says what became of the session, and why', async () => {
  const on = await connectedStage();
  await on.stream.close();
  await on.clock.advance(expiryMs);
  const session = '0x0000000000000007';
  const why = 'connection to 10.0.0.1 port 2181: the server closed the connection';
  expect(
    on.logged.filter(
      ({ message }) => message.startsWith('ZooKeeper session') || message === 'ZooKeeper unreachable',
    ),
  ).toMatchObject([
    {
      level: 'info',
      message: 'ZooKeeper session connected',
      fields: { state: 'CONNECTED', session, sessionTimeoutMs },
    },
    { level: 'warn', message: 'ZooKeeper unreachable', fields: { state: 'SUSPENDED', session, why } },
    {
      level: 'warn',
      message: 'ZooKeeper session lost',
      fields: { state: 'LOST', session, err: { code: -112 } },
    },
  ]);
  expect(on.logged).toContainEqual({
    level: 'debug',
    message: 'problem with a ZooKeeper server',
    fields: { server: '10.0.0.1:2181', problem: why },
  });
});
