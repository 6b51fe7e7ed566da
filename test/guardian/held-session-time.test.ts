/**
 * The session of a dead agent, held by its guardian, in time that the test moves. The servers are byte
 * streams in memory.
 */
import type { LookupFunction } from 'node:net';
import { describe, expect, it } from 'vitest';
import { HeldSession, type HeldSessionOptions } from '../../src/guardian/held-session.js';
import type { SessionNote } from '../../src/guardian/messages.js';
import { HandClock, settled } from '../support/hand-clock.js';
import { op, reply } from '../zookeeper/fake-server.js';
import { dialInto, type Stream, soon, streamAt } from '../zookeeper/stage.js';

const timeoutMs = 6_000;
const note: SessionNote = {
  id: '7',
  password: Buffer.alloc(16, 'p').toString('base64'),
  timeoutMs,
  longestTimeoutMs: timeoutMs,
  servers: [{ host: '10.0.0.1', port: 2181 }],
  tls: null,
  auth: null,
};
const closing = { xid: 1, refused: -115 };
const threeServers = [1, 2, 3].map((n) => ({ host: `10.0.0.${n}`, port: 2181 }));

interface Held {
  readonly clock: HandClock;
  readonly held: HeldSession;
  /** All connections that were dialled, oldest first. */
  readonly streams: readonly Stream[];
}

async function hold(
  session: Partial<SessionNote> = {},
  options: Partial<HeldSessionOptions> = {},
): Promise<Held> {
  const [clock, streams] = [new HandClock(), [] as Stream[]];
  const held = new HeldSession({
    session: { ...note, ...session },
    clock,
    dial: dialInto(streams),
    random: () => 0.5,
    lookup: (host, _options, callback) => callback(null, [{ address: host, family: 4 }]),
    ...options,
  });
  await settled();
  return { clock, held, streams };
}

async function attached(
  session: Partial<SessionNote> = {},
  granted = timeoutMs,
): Promise<Held & { stream: Stream }> {
  const all = await hold(session);
  const stream = streamAt(all, 0);
  await stream.grant({ timeoutMs: granted });
  return { ...all, stream };
}

function hosts({ streams }: Held): string[] {
  return streams.map(({ endpoint }) => endpoint.address);
}

describe('a session that the guardian holds', () => {
  it('is continued with its own id, password and timeout', async () => {
    const { stream } = await attached();
    const password = 'p'.repeat(16);
    expect(stream.handshake).toEqual({ version: 0, lastZxidSeen: 0n, timeoutMs, sessionId: 7n, password });
  });

  it('is not continued before the connection is open', async () => {
    const { streams } = await hold();
    expect(streams[0]?.frames).toEqual([]);
  });

  it('is pinged each third of its timeout, for as long as a server answers', async () => {
    const { clock, held, stream } = await attached();
    await clock.advance(timeoutMs / 3 - 1);
    expect(stream.pings).toBe(0);
    await clock.advance(1);
    for (let pings = 1; pings < 20; pings++) {
      expect(stream.pings).toBe(pings);
      await stream.pong();
      await clock.advance(timeoutMs / 3);
    }
    expect(held.isOver).toBe(false);
    expect(held.lastProblem).toBeNull();
  });

  it.each([
    ['a shorter one that a server grants now', 3_000, 1_000],
    ['its own, where a server grants a longer one', 60_000, 2_000],
  ])('is pinged by its shortest timeout: %s', async (_what, granted, afterMs) => {
    const { clock, stream } = await attached({}, granted);
    await clock.advance(afterMs - 1);
    expect(stream.pings).toBe(0);
    await clock.advance(1);
    expect(stream.pings).toBe(1);
  });

  it('is taken to another server if a ping is not answered within a third of the timeout', async () => {
    const all = await attached({ servers: threeServers });
    const { clock, held, stream, streams } = all;
    await clock.advance((2 * timeoutMs) / 3 - 1);
    expect(stream.isDestroyed).toBe(false);
    await clock.advance(1);
    expect(stream.isDestroyed).toBe(true);
    expect(held.lastProblem).toBe('the server did not respond to a ping');
    expect(streams).toHaveLength(1);
    await clock.advance(20);
    expect(hosts(all)).toEqual(['10.0.0.1', '10.0.0.2']);
    await streamAt(all, 1).grant({ timeoutMs });
    expect(held.lastProblem).toBeNull();
  });

  it('is taken to another server if one does not answer within a third of the timeout', async () => {
    const all = await hold({ servers: threeServers });
    await all.clock.advance(timeoutMs / 3 - 1);
    expect(streamAt(all, 0).isDestroyed).toBe(false);
    await all.clock.advance(1);
    expect(streamAt(all, 0).isDestroyed).toBe(true);
    expect(all.held.lastProblem).toBe('the server did not respond in time');
    await all.clock.advance(20);
    expect(hosts(all)).toEqual(['10.0.0.1', '10.0.0.2']);
  });

  it.each([
    ['closes', (stream: Stream) => stream.close(), 'the server closed the connection'],
    ['fails', (stream: Stream) => stream.events.failed('ECONNRESET', null), 'ECONNRESET'],
    [
      'answers garbage',
      (stream: Stream) => stream.send(Buffer.alloc(8, 0xff)),
      /^invalid data from the server: /,
    ],
  ])('is taken to another server if a connection %s', async (_what, misbehave, why) => {
    const all = await hold({ servers: threeServers });
    streamAt(all, 0).events.opened();
    await misbehave(streamAt(all, 0));
    expect(all.held.lastProblem).toMatch(why);
    expect(streamAt(all, 0).isDestroyed).toBe(true);
    await all.clock.advance(20);
    expect(hosts(all)).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(all.held.isOver).toBe(false);
  });

  it('is tried again after pauses from 20 to 500 ms, and from 20 again once a server has answered', async () => {
    const all = await hold({ longestTimeoutMs: 60_000 });
    const pausesMs: number[] = [];
    const pause = async () => {
      await all.streams.at(-1)?.close();
      const before = all.streams.length;
      let ms = 0;
      for (; all.streams.length === before; ms += 20) await all.clock.advance(20);
      pausesMs.push(ms);
    };
    for (let failures = 0; failures < 7; failures++) await pause();
    await all.streams.at(-1)?.grant({ timeoutMs });
    await pause();
    expect(pausesMs).toEqual([20, 40, 80, 160, 320, 500, 500, 20]);
  });

  it('is tried again if the host is not found, and says why', async () => {
    const found: string[] = [];
    const lookup: LookupFunction = (host, _options, callback) => {
      found.push(host);
      if (found.length === 1) callback(new Error('ENOTFOUND zk1'), []);
      else callback(null, [{ address: '10.0.0.9', family: 4 }]);
    };
    const all = await hold({ servers: [{ host: 'zk1', port: 2181 }] }, { lookup });
    expect(all.held.lastProblem).toBe('ENOTFOUND zk1');
    await all.clock.advance(20);
    expect(hosts(all)).toEqual(['10.0.0.9']);
  });

  it('is tried at another server if a name is not resolved within a third of the timeout', async () => {
    const lookup: LookupFunction = (host, _options, callback) => {
      if (host !== 'slow') callback(null, [{ address: host, family: 4 }]);
    };
    const servers = [{ host: 'slow', port: 2181 }, ...threeServers];
    const all = await hold({ servers }, { lookup });
    await all.clock.advance(timeoutMs / 3);
    expect(all.held.lastProblem).toBe('the name was not resolved within 2000 ms');
    await all.clock.advance(20);
    expect(hosts(all)).toEqual(['10.0.0.1']);
  });

  it('is connected only once the certificates have been read, for which there is a third of the timeout', async () => {
    const limits: number[] = [];
    let isRead = () => {};
    const prepare = (limitMs: number) => {
      limits.push(limitMs);
      return new Promise<void>((resolve) => {
        isRead = resolve;
      });
    };
    const all = await hold({}, { prepare });
    expect([limits, all.streams.length]).toEqual([[timeoutMs / 3], 0]);
    isRead();
    await settled();
    expect(all.streams).toHaveLength(1);
  });

  it('is not disturbed by a connection that was given up', async () => {
    const all = await hold({ servers: threeServers });
    const [old] = all.streams;
    await all.clock.advance(timeoutMs / 3 + 20);
    await streamAt(all, 1).grant({ timeoutMs });
    await old?.grant({ timeoutMs: 0 });
    await old?.close();
    await old?.send(Buffer.alloc(8, 0xff));
    expect(all.held.isOver).toBe(false);
    expect(all.held.lastProblem).toBeNull();
    await all.clock.advance(1_000);
    expect(all.streams).toHaveLength(2);
  });
});

describe('the end of a session that the guardian holds', () => {
  it('is asked for at once where a server is connected, and only then', async () => {
    const { held, stream } = await attached();
    expect(stream.types).toEqual([]);
    const end = held.end();
    expect(stream.types).toEqual([op.CLOSE_SESSION]);
    await stream.reply(closing.xid);
    expect(await soon(end)).toBe('ended');
  });

  it('is asked for once, as soon as a server has continued the session', async () => {
    const all = await hold();
    const end = all.held.end();
    const stream = streamAt(all, 0);
    expect(stream.frames).toEqual([]);
    await stream.grant({ timeoutMs });
    expect(stream.types).toEqual([op.CLOSE_SESSION]);
    await stream.reply(closing.xid);
    expect(await soon(end)).toBe('ended');
  });

  it('is asked for again at the next server if the connection is lost before the answer', async () => {
    const all = await attached();
    const end = all.held.end();
    await all.stream.close();
    await all.clock.advance(20);
    await streamAt(all, 1).grant({ timeoutMs });
    expect(streamAt(all, 1).types).toEqual([op.CLOSE_SESSION]);
    await streamAt(all, 1).reply(closing.xid);
    expect(await soon(end)).toBe('ended');
  });

  it('is asked for after the credentials have been sent', async () => {
    const all = await attached({ auth: 'petrel:s3cret' });
    void all.held.end();
    expect(all.stream.types).toEqual([op.AUTH, op.CLOSE_SESSION]);
    const body = all.stream.requests[0]?.body;
    expect([body?.int(), body?.string(), body?.buffer()?.toString()]).toEqual([0, 'digest', 'petrel:s3cret']);
  });

  it('is not confirmed by the answer to another request', async () => {
    const { held, stream } = await attached();
    void held.end();
    await stream.pong();
    expect(held.isOver).toBe(false);
  });

  it('is unconfirmed if the server refuses it, and the session is left to expire', async () => {
    const { clock, held, stream, streams } = await attached();
    const end = held.end();
    await stream.send(reply(closing.xid, { error: closing.refused }));
    expect(await soon(end)).toBe('unconfirmed');
    await clock.advance(60_000);
    expect(streams).toHaveLength(1);
  });

  it.each([
    ['a timeout of 0', { timeoutMs: 0 }],
    ['the session 0', { sessionId: 0n }],
  ])('has already happened if a server grants %s', async (_what, granted) => {
    const { held, streams } = await hold();
    await streams[0]?.grant(granted);
    expect(held.isOver).toBe(true);
    expect(await soon(held.end())).toBe('over');
  });

  it('comes a third after the longest timeout without an answer', async () => {
    const all = await hold({ longestTimeoutMs: 2 * timeoutMs });
    const end = all.held.end();
    await all.clock.advance((4 / 3) * 2 * timeoutMs - 1);
    expect(all.held.isOver).toBe(false);
    await all.clock.advance(2);
    expect(await soon(end)).toBe('unconfirmed');
  });

  it.each([
    ['the server continues the session', async ({ stream }: { stream: Stream }) => void stream, 0],
    [
      'a ping is answered',
      async ({ clock, stream }: { clock: HandClock; stream: Stream }) => {
        await clock.advance(timeoutMs / 3);
        await stream.pong();
      },
      0,
    ],
    ['a server grants a longer timeout', async () => {}, 3 * timeoutMs],
  ])('is counted from the moment when %s', async (_what, answer, granted) => {
    const all = await hold();
    await all.clock.advance(timeoutMs / 4);
    const stream = streamAt(all, 0);
    await stream.grant({ timeoutMs: Math.max(granted, timeoutMs) });
    await answer({ clock: all.clock, stream });
    const leftMs = (4 / 3) * Math.max(granted, timeoutMs);
    await all.clock.advance(leftMs - 1);
    expect(all.held.isOver).toBe(false);
    await all.clock.advance(2);
    expect(all.held.isOver).toBe(true);
  });

  it.each([
    [
      'ended',
      async ({ held, stream }: { held: HeldSession; stream: Stream }) => {
        void held.end();
        await stream.reply(closing.xid);
      },
    ],
    ['expired', async ({ clock }: { clock: HandClock }) => clock.advance(2 * timeoutMs)],
  ])('leaves no connection and no timer: %s', async (_what, finish) => {
    const all = await attached();
    await finish(all);
    expect(all.streams.every(({ isDestroyed }) => isDestroyed)).toBe(true);
    expect(all.clock.armed).toBe(0);
    await all.stream.close();
    expect(all.clock.armed).toBe(0);
  });

  it('makes no connection if the certificates are read only afterwards', async () => {
    let isRead = () => {};
    const prepare = () =>
      new Promise<void>((resolve) => {
        isRead = resolve;
      });
    const all = await hold({ longestTimeoutMs: 1_000 }, { prepare });
    await all.clock.advance(4_000 / 3 + 1);
    expect(all.held.isOver).toBe(true);
    isRead();
    await settled();
    expect(all.streams).toHaveLength(0);
  });
});
