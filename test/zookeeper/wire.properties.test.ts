/**
 * Tests the client with a server that sends arbitrary bytes. The client must report the error, try another
 * server, and store no more data than it received.
 */
import fc from 'fast-check';
import jute from 'node-zookeeper-client/lib/jute/index.js';
import { describe, expect, it } from 'vitest';
import { JuteWriter } from '../../src/embedded/jute.js';
import { writeAcl } from '../../src/embedded/records.js';
import { openAcl } from '../../src/model/acl.js';
import { type Operation, type Store, StoreError } from '../../src/ports/store.js';
import { decode } from '../../src/zookeeper/decode.js';
import { FrameReader } from '../../src/zookeeper/frames.js';
import { openStore, parseConnectionString } from '../../src/zookeeper/index.js';
import { heldBytes } from '../support/held-bytes.js';
import { cuts, type Mutation, mutation, pieces } from '../support/mutations.js';
import { expectClear, holds } from '../support/properties.js';
import {
  emptyStat,
  FakeServer,
  handshakeAnswer,
  op,
  type Request,
  reply,
  type Script,
  type Talk,
} from './fake-server.js';

const { protocol } = jute;

const text = (value: string) => new JuteWriter().string(value).bytes();
const texts = (...values: string[]) =>
  new JuteWriter()
    .vector(values, () => {})
    .raw(Buffer.concat(values.map(text)))
    .bytes();
const result = (type: number, body: Buffer = Buffer.alloc(0)) =>
  new JuteWriter().int(type).bool(false).int(0).raw(body).bytes();
const endOfResults = new JuteWriter().int(-1).bool(true).int(-1).bytes();

/** Bodies of one valid answer for each type of request. */
const bodies = new Map<number, Buffer>([
  [op.CREATE, text('/a')],
  [op.DELETE, Buffer.alloc(0)],
  [op.EXISTS, emptyStat],
  [op.GET_DATA, new JuteWriter().buffer(Buffer.from('content')).raw(emptyStat).bytes()],
  [op.SET_DATA, emptyStat],
  [op.GET_CHILDREN2, Buffer.concat([texts('a', 'b', 'c'), emptyStat])],
  [op.SYNC, text('/a')],
  [op.GET_ACL, Buffer.concat([writeAcl(new JuteWriter(), openAcl).bytes(), emptyStat])],
  [op.SET_ACL, emptyStat],
  [
    op.MULTI,
    Buffer.concat([
      result(op.CREATE, text('/a')),
      result(op.SET_DATA, emptyStat),
      result(op.CHECK),
      result(op.DELETE),
      endOfResults,
    ]),
  ],
]);
const bodyOf = (type: number) => bodies.get(type) ?? Buffer.alloc(0);

describe('the decoder', () => {
  const records: [string, () => jute.Record, Buffer][] = [
    [
      'a connect response',
      () => new protocol.ConnectResponse(),
      handshakeAnswer({ sessionId: 7n, timeoutMs: 2000 }).subarray(4),
    ],
    ['a reply’s header', () => new protocol.ReplyHeader(), reply(1).subarray(4)],
    ['an event', () => new protocol.WatcherEvent(), new JuteWriter().int(1).int(3).string('/a').bytes()],
    ['a created path', () => new protocol.CreateResponse(), bodyOf(op.CREATE)],
    ['a stat', () => new protocol.ExistsResponse(), bodyOf(op.EXISTS)],
    ['data', () => new protocol.GetDataResponse(), bodyOf(op.GET_DATA)],
    ['children', () => new protocol.GetChildren2Response(), bodyOf(op.GET_CHILDREN2)],
    ['an ACL', () => new protocol.GetACLResponse(), bodyOf(op.GET_ACL)],
    ['results of a multi', () => new jute.TransactionResponse(), bodyOf(op.MULTI)],
  ];

  it.each(records)('makes of %s no more than there is in the frame', async (_, create, valid) => {
    expect(decode(create(), valid, 0)).toBeLessThanOrEqual(valid.length);
    await holds(
      fc.property(mutation, (mutate) => {
        const frame = mutate(valid);
        const record = create();
        try {
          expect(decode(record, frame, 0)).toBeLessThanOrEqual(frame.length);
        } catch (error) {
          expectClear(error instanceof Error ? error.message : '');
          return;
        }
        expect(sizeOf(record)).toBeLessThanOrEqual(frame.length);
      }),
    );
  });
});

/** Returns the size of the bytes and texts in a decoded record. */
function sizeOf(value: unknown): number {
  if (Buffer.isBuffer(value)) return value.length;
  if (typeof value === 'string') return Math.floor(value.length / 3);
  if (Array.isArray(value))
    return Math.max(
      value.length,
      ...[0],
      value.map(sizeOf).reduce((a, b) => a + b, 0),
    );
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value)
    .filter(([key]) => key !== 'specification')
    .reduce((sum, [, part]) => sum + sizeOf(part), 0);
}

describe('frames', () => {
  it('are the same however the stream is cut', async () => {
    const bytes = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 8 });
    await holds(
      fc.property(
        bytes,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 }),
        (sent, shares) => {
          const stream = Buffer.concat(sent.map((one) => new JuteWriter().buffer(Buffer.from(one)).bytes()));
          const reader = new FrameReader();
          const got = pieces(stream, shares).flatMap((piece) => reader.push(piece));
          expect(got.map((frame) => [...frame])).toEqual(sent.map((one) => [...one]));
        },
      ),
    );
  });
});

/** Faults of a server on its first connection. On later connections, the server behaves correctly. */
interface Mischief {
  readonly handshake: Mutation | null;
  /**
   * Mutation of a notification that precedes the first answer. Null means that the server sends no
   * notification.
   */
  readonly news: Mutation | null;
  readonly answer: Mutation | null;
  readonly shares: readonly number[];
}

async function mischievous({ handshake, news, answer, shares }: Mischief): Promise<FakeServer> {
  const say = (talk: Talk, bytes: Buffer, mutate: Mutation | null) => {
    const spoilt = talk.index === 0 && mutate !== null ? mutate(bytes) : bytes;
    for (const piece of pieces(spoilt, shares)) talk.raw(piece);
  };
  return await FakeServer.start({
    handshake: (talk, { sessionId }) => {
      const id = sessionId === 0n ? 7n : sessionId;
      say(talk, handshakeAnswer({ sessionId: id, timeoutMs: 400 }), handshake);
    },
    request: (talk, { xid, type }: Request) => {
      const event = new JuteWriter().int(3).int(3).string('/a').bytes();
      if (news !== null) say(talk, reply(jute.XID_NOTIFICATION, { body: event }), news);
      say(talk, reply(xid, { body: bodyOf(type) }), answer);
    },
  });
}

const operations: readonly Operation[] = [
  { type: 'create', path: '/a', data: Buffer.alloc(0), mode: 'persistent' },
  { type: 'set', path: '/a', data: Buffer.alloc(0), version: 0 },
  { type: 'check', path: '/a', version: 0 },
  { type: 'delete', path: '/a', version: 0 },
];

const calls: readonly ((store: Store) => Promise<unknown>)[] = [
  (store) => store.getData('/a', { watch: true }),
  (store) => store.getChildren('/a', { watch: true }),
  (store) => store.exists('/a'),
  (store) => store.create('/a', Buffer.alloc(0), 'ephemeral'),
  (store) => store.set('/a', Buffer.alloc(0), 0),
  (store) => store.delete('/a', 'any'),
  (store) => store.sync('/a'),
  (store) => store.getAcl('/a'),
  (store) => store.setAcl('/a', openAcl, 0),
  (store) => store.multi(operations),
];

/** Returns the error of a call. Returns null if the call succeeds. The call must settle. */
async function settled(call: Promise<unknown>): Promise<StoreError | null> {
  try {
    await call;
    return null;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    expectClear(error.message);
    return error;
  }
}

describe('a store whose server sends garbage', () => {
  const maybe = fc.option(mutation);
  const mischief: fc.Arbitrary<Mischief> = fc.record({
    handshake: maybe,
    news: maybe,
    answer: maybe,
    shares: cuts,
  });

  async function suffer(
    how: Mischief,
    call: (store: Store) => Promise<unknown>,
    chroot: string,
  ): Promise<void> {
    await using server = await mischievous(how);
    const servers = parseConnectionString(`${server.address}${chroot}`);
    const store = openStore({ servers, sessionTimeoutMs: 400 });
    try {
      await settled(store.connected({ timeoutMs: 5000 }));
      await settled(call(store));
      // If garbage ended the session, the store is LOST. Any other session must be usable again, on another
      // connection if necessary.
      const error = await settled(store.connected({ timeoutMs: 5000 }));
      if (error !== null) expect(store.state).toBe('LOST');
    } finally {
      await store.close({ timeoutMs: 100 });
    }
  }

  it('ends every call with an answer or an error, and goes on where it is answered', async () => {
    const cases = fc.tuple(mischief, fc.constantFrom(...calls), fc.constantFrom('', '/chroot'));
    // Eight cases run in parallel, because each one waits most of the time.
    await holds(
      fc.asyncProperty(fc.array(cases, { minLength: 8, maxLength: 8 }), async (many) => {
        await Promise.all(many.map((one) => suffer(...one)));
      }),
      0.1,
    );
  });
});

describe('what once did harm', () => {
  /** Returns the store's report about a bad answer to the handshake, or to the first request. */
  async function reportOf(script: Script): Promise<string> {
    await using server = await FakeServer.start(script);
    const servers = parseConnectionString(server.address);
    const store = openStore({ servers, sessionTimeoutMs: 400 });
    try {
      await settled(store.connected({ timeoutMs: 5_000 }));
      return (await settled(store.getChildren('/a', { timeoutMs: 5_000 })))?.message ?? 'an answer';
    } finally {
      await store.close({ timeoutMs: 100 });
    }
  }
  const answering = (body: Buffer) => reportOf({ request: (talk, { xid }) => talk.reply(xid, { body }) });

  it.each<[string, Buffer, string]>([
    [
      'a list that never ends',
      new JuteWriter()
        .int(2 ** 31 - 1)
        .int(-4)
        .bytes(),
      'a list of 2147483647 strings in 4 bytes',
    ],
    ['a text that steps back', new JuteWriter().int(1).int(-4).bytes(), 'an invalid length of -4'],
    ['a text that is missing', new JuteWriter().int(1).int(-1).raw(emptyStat).bytes(), 'a string is missing'],
    [
      'a time that no date has',
      new JuteWriter().int(0).raw(Buffer.alloc(68, 0x7f)).bytes(),
      'an invalid time of 91',
    ],
  ])('%s', async (_, body, problem) => {
    expect(await answering(body)).toContain(`invalid data from the server: ${problem}`);
  });

  it('gigabytes of data in twenty bytes', () => {
    const before = process.memoryUsage().arrayBuffers;
    const frame = new JuteWriter()
      .int(2 ** 31 - 1)
      .raw(Buffer.alloc(16))
      .bytes();
    expect(() => decode(new protocol.GetDataResponse(), frame, 0)).toThrow('expected 2147483647 more bytes');
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
  });

  it('a result of a multi that leads back to its own start', () => {
    const frame = result(op.CREATE, new JuteWriter().int(-13).raw(Buffer.alloc(40)).bytes());
    expect(() => decode(new jute.TransactionResponse(), frame, 0)).toThrow('an invalid length of -13');
  });

  it.each<[string, Buffer, string]>([
    ['no id', handshakeAnswer({ sessionId: 0n, timeoutMs: 400 }), 'a session without an id'],
    [
      'a password of three bytes',
      new JuteWriter().int(0).int(400).long(7n).buffer(Buffer.from('abc')).packet(),
      'a session password of 3 bytes, expected 16',
    ],
  ])('a session with %s', async (_, answer, problem) => {
    expect(await reportOf({ handshake: (talk) => talk.raw(answer) })).toContain(problem);
  });

  it('news of what is no path', async () => {
    const report = await reportOf({ request: (talk) => talk.notify(3, '__proto__') });
    expect(report).toContain('a watch event for "__proto__", which is not a valid path');
  });

  it('a frame in a hundred thousand pieces', () => {
    const reader = new FrameReader();
    reader.push(new JuteWriter().int(1_000_000).bytes());
    const before = heldBytes();
    for (let index = 0; index < 100_000; index++) reader.push(Buffer.alloc(1));
    expect(heldBytes() - before).toBeLessThan(2_000_000);
    expect(reader.push(Buffer.alloc(900_000))).toHaveLength(1);
  });
});
