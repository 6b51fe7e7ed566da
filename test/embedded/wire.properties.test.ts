/**
 * Tests the server with clients that send arbitrary bytes. It must answer or disconnect them, and no other
 * client may be affected.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Database } from '../../src/embedded/database.js';
import { JuteReader, JuteWriter } from '../../src/embedded/jute.js';
import { authOpcode, type Opcode, opcodes, writeAcl, writeStrings } from '../../src/embedded/records.js';
import { answer } from '../../src/embedded/requests.js';
import { openAcl, permissions } from '../../src/model/acl.js';
import { type DevelopmentServer, startDevelopmentServer } from '../../src/testing.js';
import { WireClient } from '../contract/wire-client.js';
import { operations, writeCreate } from '../contract/wire-records.js';
import { heldBytes } from '../support/held-bytes.js';
import { cuts, type Mutation, mutation, pieces } from '../support/mutations.js';
import { holds } from '../support/properties.js';
import { until } from '../support/until.js';

type Write = (writer: JuteWriter) => unknown;

const multiHeader = (writer: JuteWriter, opcode: Opcode) => writer.int(opcodes[opcode]).bool(false).int(-1);
const endOfMulti = (writer: JuteWriter) => writer.int(-1).bool(true).int(-1);
const path: Write = (writer) => writer.string('/a');
const watched: Write = (writer) => writer.string('/a').bool(true);
const watches = (writer: JuteWriter, lists: number) => {
  writer.long(0n);
  for (let list = 0; list < lists; list++) writeStrings(writer, ['/', '/a', '/b']);
};

/** Writers of one valid request of each kind. */
const bodies: Record<Opcode, Write> = {
  create: (writer) => writeCreate(writer, '/a', { data: 'x' }),
  create2: (writer) => writeCreate(writer, '/a/b', { flags: 3 }),
  delete: (writer) => writer.string('/a').int(-1),
  exists: watched,
  getData: watched,
  setData: (writer) => writer.string('/a').buffer(Buffer.from('y')).int(-1),
  getACL: path,
  setACL: (writer) => writeAcl(writer.string('/a'), openAcl).int(-1),
  getChildren: watched,
  getChildren2: watched,
  sync: path,
  ping: () => {},
  check: (writer) => writer.string('/a').int(-1),
  multi: (writer) => {
    const inside = [operations.create('/a/c'), operations.setData('/a', 'z'), operations.check('/a')];
    for (const { opcode, write } of inside) write(multiHeader(writer, opcode));
    endOfMulti(writer);
  },
  reconfig: path,
  checkWatches: (writer) => writer.string('/a').int(3),
  removeWatches: (writer) => writer.string('/a').int(3),
  createContainer: (writer) => writeCreate(writer, '/a', { flags: 4 }),
  createTTL: (writer) => writeCreate(writer, '/a', { flags: 5 }).long(5n),
  multiRead: (writer) => {
    for (const opcode of ['getData', 'getChildren'] as const)
      multiHeader(writer, opcode).string('/a').bool(false);
    endOfMulti(writer);
  },
  setWatches: (writer) => watches(writer, 3),
  getEphemerals: path,
  getAllChildrenNumber: path,
  setWatches2: (writer) => watches(writer, 5),
  addWatch: (writer) => writer.string('/a').int(1),
  whoAmI: () => {},
  closeSession: () => {},
};
const kinds: readonly Opcode[] = ['create', ...Object.keys(bodies)].filter(
  (name): name is Opcode => name in opcodes,
);

function bodyOf(opcode: Opcode): Buffer {
  const writer = new JuteWriter();
  bodies[opcode](writer);
  return writer.bytes();
}

function packet(xid: number, opcode: Opcode): Buffer {
  return new JuteWriter().int(xid).int(opcodes[opcode]).raw(bodyOf(opcode)).packet();
}

const auth = new JuteWriter()
  .int(-4)
  .int(authOpcode)
  .int(0)
  .string('digest')
  .buffer(Buffer.from('a:b'))
  .packet();
const handshake = new JuteWriter()
  .int(0)
  .long(0n)
  .int(10_000)
  .long(0n)
  .buffer(Buffer.alloc(16))
  .bool(false)
  .packet();

describe('the answer to a request', () => {
  it('is a reply, whatever the request holds, and what failed has changed nothing', async () => {
    const requests = fc.array(fc.tuple(fc.constantFrom(...kinds), fc.option(mutation, { freq: 4 })), {
      minLength: 1,
      maxLength: 12,
    });
    await holds(
      fc.property(requests, (sent) => {
        const limits = { tickTimeMs: 500, minTimeoutMs: 1000, maxTimeoutMs: 10_000 };
        const database = new Database({ ...limits, secret: 's', startedAtMs: 0 });
        const { id: sessionId } = database.openSession(5000, 0);
        const client = { sessionId, watcher: 1, identities: [] };
        for (const [opcode, mutate] of sent) {
          const body = (mutate ?? same)(bodyOf(opcode));
          const before = database.counts;
          const reply = answer(opcode, new JuteReader(body), database, client, 1);
          expect(Number.isInteger(reply.error)).toBe(true);
          expect(reply.body.length).toBeLessThan(10_000);
          if (reply.error === 0) continue;
          expect(reply.body).toHaveLength(0);
          expect({ ...database.counts, watches: 0 }).toEqual({ ...before, watches: 0 });
        }
        database.endSession(sessionId, 2);
        database.disconnect(1);
        expect(database.counts).toMatchObject({ ephemerals: 0, sessions: 0, watches: 0 });
      }),
    );
  });
});

const same: Mutation = (bytes) => bytes;

describe('a server whose clients send garbage', () => {
  let server: DevelopmentServer;
  let bystander: WireClient;
  beforeAll(async () => {
    // The session timeout is long, because only the bystander's requests between two inputs keep its session
    // alive.
    server = await startDevelopmentServer({ tickTimeMs: 5000 });
    bystander = await WireClient.connect(server.connectString, { timeoutMs: 100_000 });
    await bystander.authenticate('digest', 'by:stander');
    const acl = [{ permissions: permissions.all, identity: { scheme: 'auth', id: '' } }];
    await bystander.create('/mine', { flags: 1, acl });
  });
  afterAll(async () => {
    await bystander.disconnect();
    await server.close();
  });

  /** Sends these pieces, closes the connection, and waits until the server has closed it too. */
  async function send(bytes: readonly Buffer[]): Promise<void> {
    const socket = connect(server.port, server.host);
    socket.on('error', () => undefined);
    socket.setNoDelay(true);
    // The client must read the answers. Otherwise, the server would stop reading until they are read.
    socket.resume();
    for (const piece of bytes) socket.write(piece);
    socket.end();
    if (!socket.closed) await once(socket, 'close');
  }

  async function expectUnharmed(): Promise<void> {
    expect((await bystander.ping()).error).toBe('OK');
    expect((await bystander.read('getData', '/mine', true)).error).toBe('OK');
    const heard = bystander.events.length;
    expect((await bystander.setData('/mine', 'x')).error).toBe('OK');
    expect(bystander.events.length).toBe(heard + 1);
  }

  const packets = fc.constantFrom(auth, ...kinds.map((opcode, index) => packet(index + 1, opcode)));
  const maybe = fc.option(mutation, { freq: 2 });
  const streams = fc.record({
    opening: fc.tuple(fc.constantFrom(handshake, Buffer.alloc(0), Buffer.from('ruok')), maybe),
    requests: fc.array(fc.tuple(packets, maybe), { maxLength: 15 }),
    all: maybe,
    shares: cuts,
  });

  it('goes on serving everybody else', async () => {
    await holds(
      fc.asyncProperty(streams, async ({ opening, requests, all, shares }) => {
        const parts = [opening, ...requests].map(([bytes, mutate]) => (mutate ?? same)(bytes));
        await send(pieces((all ?? same)(Buffer.concat(parts)), shares));
        await expectUnharmed();
      }),
    );
  });

  it('answers a word of four letters, or hangs up', async () => {
    const letters = fc.stringMatching(/^[a-z]{4}$/);
    const words = fc.oneof(fc.constantFrom('ruok', 'isro', 'envi', 'srvr', 'stat', 'cons', 'mntr'), letters);
    await holds(
      fc.asyncProperty(words, fc.uint8Array({ maxLength: 20 }), async (word, rest) => {
        const socket = connect(server.port, server.host);
        socket.on('error', () => undefined);
        socket.end(Buffer.concat([Buffer.from(word), rest]));
        if (!socket.closed) await once(socket.resume(), 'close');
        await expectUnharmed();
      }),
      0.2,
    );
  });

  it('goes on serving other clients, whatever bytes it receives', async () => {
    await holds(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), cuts, async (malformed, shares) => {
        await send(pieces(Buffer.from(malformed), shares));
        await expectUnharmed();
      }),
      0.5,
    );
  });
});

describe('what once did harm', () => {
  let server: DevelopmentServer;
  beforeEach(async () => {
    server = await startDevelopmentServer({ tickTimeMs: 500 });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await server.close();
  });

  /** Opens a connection without sending anything. The client does not read what the server sends. */
  async function dial(): Promise<Socket> {
    const socket = connect({ port: server.port, host: server.host, allowHalfOpen: true });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }

  it('many reads of one large znode in one small request', async () => {
    await using client = await WireClient.connect(server.connectString);
    await client.create('/large', { data: 'x'.repeat(1_000_000) });
    const reply = await client.request('multiRead', (writer) => {
      for (let read = 0; read < 100; read++) multiHeader(writer, 'getData').string('/large').bool(false);
      endOfMulti(writer);
    });
    expect(reply.error).toBe('MARSHALLING_ERROR');
    expect(await client.multiRead([['getData', '/large']])).toHaveLength(1);
    expect((await client.ping()).error).toBe('OK');
  });

  it('a multi in a multi, and one of very many operations', async () => {
    await using client = await WireClient.connect(server.connectString);
    const nested = await client.request('multi', (writer) => {
      for (let depth = 0; depth < 100_000; depth++) multiHeader(writer, 'multi');
    });
    expect(nested.error).toBe('MARSHALLING_ERROR');
    const checks = Array.from({ length: 30_000 }, () => operations.check('/'));
    const { results } = await client.multi([...checks, operations.check('/', 7)]);
    expect(results).toHaveLength(30_001);
    expect(results.at(-1)?.error).toBe('BAD_VERSION');
  });

  it('many reads of one large znode by who does not read the answers', async () => {
    await using client = await WireClient.connect(server.connectString);
    await client.create('/large', { data: 'x'.repeat(1_000_000) });
    const greedy = await dial();
    const before = heldBytes();
    const read = new JuteWriter().int(1).int(opcodes.getData).string('/large').bool(false).packet();
    greedy.write(Buffer.concat([handshake, ...Array.from({ length: 100 }, () => read)]));
    await until(async () =>
      (await client.ping()).error === 'OK' ? server.requestCounts().size === 2 : false,
    );
    expect(heldBytes() - before).toBeLessThan(20_000_000);
    let bytes = 0;
    greedy.on('data', (chunk) => {
      bytes += chunk.length;
    });
    await until(() => bytes > 100_000_000);
    greedy.destroy();
  });

  async function connections(): Promise<number> {
    const socket = await dial();
    socket.end('mntr');
    let text = '';
    for await (const chunk of socket) text += chunk;
    return Number(/zk_num_alive_connections\t(\d+)/.exec(text)?.[1]) - 1;
  }

  const farewell = Buffer.concat([handshake, packet(1, 'closeSession')]);
  it.each([
    ['a handshake that never ends', Buffer.from([0, 0, 0, 45]), Buffer.from([0])],
    ['a four-letter word that is said on and on', Buffer.from('ruok'), Buffer.from('ruok')],
    ['a client that does not go when its session has ended', farewell, packet(2, 'ping')],
  ])('%s', async (_, opening, more) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const socket = await dial();
    socket.write(opening);
    for (let seconds = 0; seconds < 12; seconds++) {
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      vi.advanceTimersByTime(1000);
      if (!socket.destroyed) socket.write(more);
    }
    vi.useRealTimers();
    await until(async () => (await connections()) === 0, { timeoutMs: 5000 });
    socket.destroy();
  });

  it('an ACL for an address that means something on one machine only', async () => {
    await using client = await WireClient.connect(server.connectString);
    const acl = [{ permissions: 31, identity: { scheme: 'ip', id: 'fe80::1%eth0' } }];
    expect((await client.create('/a', { acl })).error).toBe('INVALID_ACL');
    expect((await client.ping()).error).toBe('OK');
  });

  it('a tree that is very deep', async () => {
    await using client = await WireClient.connect(server.connectString);
    const paths = Array.from({ length: 900 }, (_, depth) => '/a'.repeat(depth + 1));
    await client.multi(paths.map((one) => operations.create(one)));
    const started = process.cpuUsage();
    for (let round = 0; round < 400; round++) await client.setData(paths.at(-1) ?? '', 'x');
    // Before a fix, each change took five milliseconds, because it searched for watches all the way to the
    // root.
    expect(process.cpuUsage(started).user).toBeLessThan(700_000);
  });
});
