import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { Disconnected, WireClient } from '../contract/wire-client.js';
import { startStopwatch } from '../support/stopwatch.js';
import { until } from '../support/until.js';

let server: DevelopmentServer;

beforeEach(async () => {
  server = await startDevelopmentServer({ tickTimeMs: 50 });
});

afterEach(async () => {
  await server.close();
});

async function say(text: string | Buffer): Promise<string> {
  const socket = connect(server.port, server.host);
  let answer = '';
  socket.on('data', (bytes) => {
    answer += bytes.toString();
  });
  socket.on('error', () => undefined);
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

describe('startDevelopmentServer', () => {
  it('listens on loopback, on a port of its own', () => {
    expect(server.connectString).toBe(`127.0.0.1:${server.port}`);
    expect(server.port).toBeGreaterThan(0);
  });

  it('refuses options that make no sense, naming them', async () => {
    await expect(startDevelopmentServer({ tickTimeMs: 0 })).rejects.toMatchObject({
      code: 'INVALID',
      message: expect.stringContaining('tickTimeMs'),
    });
    await expect(
      startDevelopmentServer({ minSessionTimeoutMs: 500, maxSessionTimeoutMs: 400 }),
    ).rejects.toMatchObject({ code: 'INVALID' });
  });

  it('says which address it could not have', async () => {
    await expect(startDevelopmentServer({ port: server.port })).rejects.toMatchObject({
      code: 'FAILED',
      message: expect.stringContaining(server.connectString),
    });
  });

  it("may be closed twice, and closes its clients' connections", async () => {
    const client = await WireClient.connect(server.connectString);
    const pending = client.ping().then(() => client.request(9999));
    await server.close();
    await server.close();
    await expect(pending).rejects.toThrow();
  });
});

describe('four-letter words', () => {
  it('answers ruok', async () => {
    expect(await say('ruok')).toBe('imok');
  });

  it('calls itself standalone, and a development server', async () => {
    await using client = await WireClient.connect(server.connectString);
    const answer = await say('srvr');
    expect(answer).toMatch(/^Zookeeper version: 3\.8\.\d+-.*development/);
    expect(answer).toContain('\nMode: standalone\n');
    expect(answer).toMatch(/\nZxid: 0x[0-9a-f]+\n/);
    expect(await say('cons')).toContain(`sid=0x${client.sessionId.toString(16)}`);
    expect(await say('stat')).toContain('Clients:\n /127.0.0.1:');
    expect(await say('mntr')).toContain('zk_server_state\tstandalone\n');
  });
});

describe('a connection that ends', () => {
  it('leaves no watches behind', async () => {
    const client = await WireClient.connect(server.connectString);
    await client.read('exists', '/a', true);
    await client.read('getChildren', '/', true);
    expect(await say('mntr')).toContain('zk_watch_count\t2\n');
    await client.disconnect();
    await until(async () => (await say('mntr')).includes('zk_watch_count\t0\n'));
  });
});

describe('what a client may send', () => {
  const hostile: [string, Buffer][] = [
    ['an unknown word', Buffer.from('xxxx')],
    ['a negative length', Buffer.from([0xff, 0xff, 0xff, 0xff])],
    ['a length beyond the limit', Buffer.from([0x00, 0x10, 0x00, 0x00])],
    ['an empty handshake', Buffer.from([0, 0, 0, 0])],
    ['a handshake cut short', Buffer.from([0, 0, 0, 2, 0, 0])],
  ];

  it.each(hostile)('closes that connection alone on %s', async (_, bytes) => {
    await using bystander = await WireClient.connect(server.connectString);
    expect(await say(bytes)).toBe('');
    expect((await bystander.ping()).error).toBe('OK');
  });

  it('closes a connection whose request has no whole header', async () => {
    await using client = await WireClient.connect(server.connectString);
    client.sendRaw(Buffer.from([0, 0, 0, 2, 1, 2]));
    await expect(client.ping()).rejects.toThrow(Disconnected);
  });

  it('survives random requests of every kind', async () => {
    await using bystander = await WireClient.connect(server.connectString);
    let seed = 1;
    const random = () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
      return seed / 0x80000000;
    };
    for (let round = 0; round < 300; round++) {
      await using client = await WireClient.connect(server.connectString);
      const opcode = Math.floor(random() * 24) + (random() < 0.2 ? 95 : 0);
      const body = Buffer.from(
        Array.from({ length: Math.floor(random() * 60) }, () => Math.floor(random() * 4)),
      );
      await client.request(opcode, (writer) => writer.raw(body)).catch(() => undefined);
      expect((await bystander.ping()).error).toBe('OK');
    }
  });
});

describe('development aids', () => {
  it('expires a session on demand, with its ephemerals', async () => {
    await using owner = await WireClient.connect(server.connectString);
    await using other = await WireClient.connect(server.connectString);
    await owner.create('/mine', { flags: 1 });
    expect(server.expireSession(owner.sessionId)).toBe(true);
    expect(server.expireSession(owner.sessionId)).toBe(false);
    expect((await other.read('exists', '/mine')).error).toBe('NO_NODE');
    await expect(owner.ping()).rejects.toThrow(Disconnected);
  });

  it('counts requests and notifications by session', async () => {
    await using client = await WireClient.connect(server.connectString);
    await client.create('/a');
    await client.read('getData', '/a', true);
    await client.setData('/a', 'x');
    await client.setData('/a', 'y');
    expect(server.requestCounts().get(client.sessionId)).toEqual({
      requests: { create: 1, getData: 1, setData: 2 },
      notifications: 1,
    });
  });

  it('drops connections while sessions live on', async () => {
    await using client = await WireClient.connect(server.connectString);
    await client.create('/mine', { flags: 1 });
    server.dropConnections();
    await expect(client.ping()).rejects.toThrow(Disconnected);
    const { sessionId, password } = client;
    await using again = await WireClient.connect(server.connectString, { sessionId, password });
    expect(again.sessionId).toBe(sessionId);
    expect((await again.stat('/mine')).ephemeralOwner).toBe(sessionId);
  });

  it('keeps data and sessions over a restart on the same port', async () => {
    await using client = await WireClient.connect(server.connectString, { timeoutMs: 100 });
    await client.create('/mine', { flags: 1 });
    const { sessionId, password } = client;
    const { port } = server;
    await server.halt();
    await expect(client.ping()).rejects.toThrow(Disconnected);
    await expect(WireClient.dial(`127.0.0.1:${port}`)).rejects.toThrow('ECONNREFUSED');
    await new Promise((resolve) => setTimeout(resolve, 300));
    await server.restart();
    expect(server.port).toBe(port);
    await using again = await WireClient.connect(server.connectString, { sessionId, password });
    expect((await again.stat('/mine')).ephemeralOwner).toBe(sessionId);
  });

  it('says nothing while frozen, to anyone, and answers afterwards', async () => {
    await using client = await WireClient.connect(server.connectString);
    server.freeze();
    const pong = client.ping();
    await using late = await WireClient.dial(server.connectString);
    const handshake = late.shakeHands({});
    const silent = await Promise.race([
      pong.then(() => false),
      handshake.then(() => false),
      new Promise<boolean>((resolve) => setTimeout(resolve, 150, true)),
    ]);
    expect(silent).toBe(true);
    server.resume();
    expect((await pong).error).toBe('OK');
    await handshake;
    expect(late.sessionId).not.toBe(0n);
  });

  it('expires what was silent for too long in a freeze before it reads on', async () => {
    await using client = await WireClient.connect(server.connectString, { timeoutMs: 100 });
    server.freeze();
    const pong = client.ping();
    using stopwatch = startStopwatch();
    await until(() => stopwatch.ms > 300);
    server.resume();
    await expect(pong).rejects.toThrow(Disconnected);
  });

  it('does not count a pause of its own process against a session', async () => {
    await using client = await WireClient.connect(server.connectString, { timeoutMs: 100 });
    const pong = client.ping();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    expect((await pong).error).toBe('OK');
  });

  it.each([
    ['wraps', ['/q/a2147483647', '/q/b-2147483648', '/q/c-2147483647']],
    ['sticks', ['/q/a2147483647', '/q/b2147483647', '/q/c2147483647']],
  ] as const)('rehearses the end of a sequence counter that %s', async (sequenceOverflow, expected) => {
    await using other = await startDevelopmentServer({ sequenceOverflow });
    await using client = await WireClient.connect(other.connectString);
    await client.create('/q');
    other.setNextSequence('/q', 2_147_483_647);
    const created: string[] = [];
    for (const name of 'abc') created.push((await client.create(`/q/${name}`, { flags: 2 })).body.string());
    expect(created).toEqual(expected);
    expect(() => other.setNextSequence('/nowhere', 1)).toThrow(/nowhere/);
  });

  it('gives later starts greater zxids, so that a returning client is not behind', async () => {
    await using client = await WireClient.connect(server.connectString);
    const { zxid } = await client.create('/a');
    expect(zxid).toBeGreaterThan(BigInt(Number.MAX_SAFE_INTEGER));
  });
});
