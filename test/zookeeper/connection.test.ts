/** Tests one connection, in time that only the test moves: when it pings, when it is given up, and why. */
import jute from 'node-zookeeper-client/lib/jute/index.js';
import { describe, expect, it } from 'vitest';
import { nextXid } from '../../src/zookeeper/connection.js';
import { settled } from '../support/hand-clock.js';
import { dataAnswer, emptyStat, handshakeAnswer, op, reply } from './fake-server.js';
import { failureOf } from './probe.js';
import { connectedStage, failureNow, soon, stage, streamAt } from './stage.js';

const sessionTimeoutMs = 6_000;
const pingMs = sessionTimeoutMs / 4;
const silenceMs = (sessionTimeoutMs * 2) / 3;
const nothing: Buffer = Buffer.alloc(0);

describe('a connection on which the server is silent', () => {
  it('is given up after two thirds of the session timeout, and not before', async () => {
    const { clock, store, stream } = await connectedStage();
    await clock.advance(silenceMs - 1);
    expect(store.state).toBe('CONNECTED');
    const call = failureOf(store.getData('/a'));
    await clock.advance(1);
    expect(await soon(call)).toMatchObject({ code: 'CONNECTION_LOSS', outcomeUnknown: true });
    expect((await soon(call)).message).toContain('10.0.0.1 port 2181: nothing received for 4000 ms');
    expect(stream.isDestroyed).toBe(true);
  });

  it('is given up without a call that would notice the silence', async () => {
    const { clock, states } = await connectedStage();
    await clock.advance(silenceMs);
    expect(states).toEqual(['CONNECTED', 'SUSPENDED']);
  });

  it('is kept as long as the server sends anything', async () => {
    const { clock, store, stream } = await connectedStage();
    await clock.advance(1_000);
    await stream.notify(3, '/a');
    await clock.advance(silenceMs - 1);
    expect(store.state).toBe('CONNECTED');
    await clock.advance(1);
    expect(store.state).toBe('SUSPENDED');
  });

  it('is given up when a ping has no answer for a session timeout, whatever else arrives', async () => {
    const { clock, store, stream } = await connectedStage();
    await clock.advance(pingMs);
    for (let second = 1; second < sessionTimeoutMs / 1_000; second += 1) {
      await clock.advance(1_000);
      await stream.notify(3, '/a');
    }
    await clock.advance(999);
    expect(store.state).toBe('CONNECTED');
    await clock.advance(1);
    expect(store.state).toBe('SUSPENDED');
    expect((await failureNow(store.getData('/a'))).message).toContain('no response to a request for 6000 ms');
  });

  it('is given up when a request has no answer for a session timeout, although pings have', async () => {
    const { clock, store, stream } = await connectedStage();
    const call = failureOf(store.getData('/a'));
    let answered = 0;
    for (let spentMs = 0; spentMs < sessionTimeoutMs; spentMs += 500) {
      expect(store.state).toBe('CONNECTED');
      await clock.advance(500);
      for (; answered < stream.pings && !stream.isDestroyed; answered += 1) await stream.pong();
    }
    expect(store.state).toBe('SUSPENDED');
    expect((await soon(call)).message).toContain('no response to a request for 6000 ms');
  });

  it('is measured from what arrived on it, and not from an earlier connection', async () => {
    const { clock, store, stream, streams } = await connectedStage();
    await clock.advance(silenceMs - 1);
    await stream.close();
    await clock.advance(500);
    await streamAt({ streams }, 1).grant();
    await clock.advance(silenceMs - 1);
    expect(store.state).toBe('CONNECTED');
  });
});

describe('pings', () => {
  it('follow a quarter of the session timeout after the last thing that was sent', async () => {
    const { clock, store, stream } = await connectedStage();
    await clock.advance(1_000);
    const read = store.getData('/a');
    await stream.reply(1, { body: dataAnswer(nothing) });
    await soon(read);
    await clock.advance(pingMs - 1);
    expect(stream.pings).toBe(0);
    await clock.advance(1);
    expect(stream.pings).toBe(1);
    await clock.advance(pingMs);
    expect(stream.pings).toBe(2);
  });

  it('are not sent before the server has granted a session', async () => {
    const { clock, streams } = await stage();
    const stream = streamAt({ streams }, 0);
    stream.events.opened();
    await clock.advance(sessionTimeoutMs - 1);
    expect(stream.frames).toHaveLength(1);
    expect(stream.isDestroyed).toBe(false);
  });

  it('stop with the connection', async () => {
    const { clock, stream } = await connectedStage();
    await stream.close();
    await clock.advance(10 * sessionTimeoutMs);
    expect(stream.pings).toBe(0);
  });
});

describe('a connection that does not become ready', () => {
  it('is given up after its share of the session timeout, and the next server is tried', async () => {
    const { clock, streams } = await stage('10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181');
    streamAt({ streams }, 0).events.opened();
    await clock.advance(sessionTimeoutMs / 3 - 1);
    expect(streams).toHaveLength(1);
    await clock.advance(1);
    expect(streams.map(({ endpoint }) => endpoint.address)).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(streamAt({ streams }, 0).isDestroyed).toBe(true);
  });

  it('is given up even if the server granted a session and then left the credentials unanswered', async () => {
    const credentials = [{ scheme: 'digest', credentials: 'user:secret' }];
    const { clock, streams, states } = await stage('10.0.0.1:2181,10.0.0.2:2181', { credentials });
    await streamAt({ streams }, 0).grant();
    await clock.advance(sessionTimeoutMs / 2);
    expect(streamAt({ streams }, 0).isDestroyed).toBe(true);
    expect(states).toEqual([]);
  });

  it.each([
    [false, 'its port may accept only TLS'],
    [true, 'its port may not support TLS'],
  ])('is reported with what may be wrong (TLS: %s)', async (isSecure, hint) => {
    const { clock, store, streams } = await stage('10.0.0.1:2181', { isSecure });
    const problem = async () => (await failureNow(store.getData('/a'))).message;
    streamAt({ streams }, 0).events.opened();
    await clock.advance(sessionTimeoutMs);
    const unanswered = `to the handshake (the server may not be serving yet, or ${hint})`;
    expect(await problem()).toContain(`10.0.0.1 port 2181: no response in time ${unanswered}`);
    await clock.advance(1_000);
    await streamAt({ streams }, 1).close();
    expect(await problem()).toContain(
      `10.0.0.1 port 2181: the server closed the connection without a response ${unanswered}`,
    );
  });

  it('may stay ready for any time once it was', async () => {
    const { clock, store, stream } = await connectedStage();
    for (let pings = 1; pings <= 20; pings += 1) {
      await clock.advance(pingMs);
      await stream.pong();
    }
    expect(stream.pings).toBe(20);
    expect(store.state).toBe('CONNECTED');
  });
});

describe('the report about a lost connection', () => {
  it('names the host and the address', async () => {
    const { store, stream } = await connectedStage('zk.example:2181', {
      lookup: (_host, _options, callback) => callback(null, [{ address: '10.0.0.9', family: 4 }]),
    });
    const call = failureOf(store.getData('/a'));
    await stream.close();
    expect((await soon(call)).message).toBe(
      'get the data of /a: connection to zk.example (10.0.0.9) port 2181: the server closed the connection',
    );
  });

  it('has the error of the stream as its cause', async () => {
    const { store, stream } = await connectedStage();
    const call = failureOf(store.getData('/a'));
    const cause = new Error('read ECONNRESET');
    stream.events.failed('read ECONNRESET', cause);
    expect((await soon(call)).message).toContain('10.0.0.1 port 2181: read ECONNRESET');
    expect((await soon(call)).cause).toBe(cause);
  });
});

describe('what a server must not send', () => {
  it.each([
    ['an answer to a ping that was not sent', reply(jute.XID_PING), 'a response without a request'],
    ['an answer to credentials that were not sent', reply(-4), 'a response without a request'],
    [
      'an answer to no request',
      reply(1),
      'a response to request 1, but the next expected response is to request none',
    ],
    [
      'an event of a znode that is no path',
      reply(jute.XID_NOTIFICATION, { body: Buffer.from([0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 1, 97]) }),
      'a watch event for "a", which is not a valid path',
    ],
    [
      'a frame of negative length',
      Buffer.from([0xff, 0xff, 0xff, 0xff]),
      'a frame with a length of -1 bytes',
    ],
    [
      'a frame of more than 64 MiB',
      Buffer.from([4, 0, 0, 1]),
      'a frame with a length of 67108865 bytes, expected 0 to 67108864',
    ],
  ])('%s: ends the connection', async (_, bytes, problem) => {
    const { store, stream } = await connectedStage();
    await stream.send(bytes);
    expect(stream.isDestroyed).toBe(true);
    const { message } = await failureNow(store.getData('/a'));
    expect(message).toContain(`invalid data from the server: ${problem}`);
  });

  it('an answer before the handshake was sent: opens no session', async () => {
    const { store, streams } = await stage();
    await streamAt({ streams }, 0).send(handshakeAnswer({ sessionId: 7n, timeoutMs: sessionTimeoutMs }));
    expect(store.sessionId).toBe(0n);
    expect((await failureNow(store.getData('/a'))).message).toContain('a response before the handshake');
  });

  it('an answer out of order: fails this request and all that follow, whose outcome is unknown', async () => {
    const { store, stream, states } = await connectedStage();
    const calls = [failureOf(store.set('/a', nothing, 0)), failureOf(store.set('/b', nothing, 0))];
    await stream.reply(2, { body: emptyStat });
    for (const error of await soon(Promise.all(calls))) {
      expect(error).toMatchObject({ code: 'CONNECTION_LOSS', outcomeUnknown: true });
      expect(error.message).toContain(
        'a response to request 2, but the next expected response is to request 1',
      );
    }
    expect(states).toEqual(['CONNECTED', 'SUSPENDED']);
  });

  it('more after a bad frame: is not read', async () => {
    const { changes, stream } = await connectedStage();
    const event = reply(jute.XID_NOTIFICATION, {
      body: Buffer.from([0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 2, 47, 97]),
    });
    await stream.send(Buffer.concat([event, reply(99), event]));
    expect(changes).toEqual(['/a']);
  });
});

it('requests are numbered from 1 to the largest positive number, and then from 1 again', () => {
  expect([nextXid(0), nextXid(2 ** 31 - 2), nextXid(2 ** 31 - 1)]).toEqual([1, 2 ** 31 - 1, 1]);
});

describe('a connection that has ended', () => {
  it('reports nothing that arrives on it afterwards', async () => {
    const { store, stream, streams, changes, states } = await connectedStage();
    await stream.close();
    await stream.notify(3, '/a');
    stream.events.failed('too late', undefined);
    await stream.grant({ sessionId: 8n });
    await settled();
    expect(changes).toEqual([]);
    expect(states).toEqual(['CONNECTED', 'SUSPENDED']);
    expect(stream.frames).toHaveLength(1);
    expect(store.sessionId).toBe(7n);
    expect((await failureNow(store.getData('/a'))).message).not.toContain('too late');
    expect(streams).toHaveLength(1);
  });

  it('reports nothing that follows the end of the session in the same piece', async () => {
    const { store, stream, changes } = await connectedStage();
    const failure = failureOf(store.getData('/a'));
    const event = reply(jute.XID_NOTIFICATION, {
      body: Buffer.from([0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 2, 47, 97]),
    });
    await stream.send(Buffer.concat([reply(1, { error: -112 }), event]));
    expect((await soon(failure)).code).toBe('SESSION_EXPIRED');
    expect(changes).toEqual([]);
  });

  it('gives no answer to the requests of the next connection, which are numbered from 1 again', async () => {
    const { clock, store, stream, streams } = await connectedStage();
    const first = failureOf(store.exists('/a'));
    await stream.close();
    await soon(first);
    await clock.advance(1_000);
    const next = streamAt({ streams }, 1);
    await next.grant();
    const second = store.exists('/a');
    expect(next.requests.map(({ xid, type }) => [xid, type])).toEqual([[1, op.EXISTS]]);
    await stream.reply(1, { error: -101 });
    await next.reply(1, { body: emptyStat });
    expect(await soon(second)).toMatchObject({ version: 0 });
  });
});
