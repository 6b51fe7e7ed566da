/** Tests the calls of a store: what they send, and how they end, in time that only the test moves. */
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { JuteWriter } from '../../src/embedded/jute.js';
import { openAcl } from '../../src/model/acl.js';
import type { Operation, Store } from '../../src/ports/store.js';
import { dataAnswer, emptyStat, op } from './fake-server.js';
import { failureOf } from './probe.js';
import { connectedStage, failureNow, soon, stage, streamAt } from './stage.js';

const nothing: Buffer = Buffer.alloc(0);
const text = (value: string) => new JuteWriter().string(value).bytes();
const zeroStat = {
  czxid: 0n,
  mzxid: 0n,
  pzxid: 0n,
  ctimeMs: 0,
  mtimeMs: 0,
  version: 0,
  cversion: 0,
  aversion: 0,
  ephemeralOwner: 0n,
  dataLength: 0,
  numChildren: 0,
};
const all: readonly Operation[] = [
  { type: 'create', path: '/a', data: nothing, mode: 'persistent' },
  { type: 'set', path: '/a', data: nothing, version: 0 },
  { type: 'check', path: '/a', version: 0 },
  { type: 'delete', path: '/a', version: 'any' },
];
const result = (type: number, body = nothing) =>
  new JuteWriter().int(type).bool(false).int(0).raw(body).bytes();
const endOfResults = new JuteWriter().int(-1).bool(true).int(-1).bytes();

interface Call {
  readonly name: string;
  readonly call: (store: Store) => Promise<unknown>;
  readonly type: number;
  readonly body: Buffer;
  readonly value: unknown;
  readonly text: string;
}

const calls: readonly Call[] = [
  {
    name: 'getData',
    call: (store) => store.getData('/a'),
    type: op.GET_DATA,
    body: dataAnswer(Buffer.from('x')),
    value: { data: Buffer.from('x'), stat: zeroStat },
    text: 'get the data of /a',
  },
  {
    name: 'getData of a znode without data',
    call: (store) => store.getData('/a'),
    type: op.GET_DATA,
    body: dataAnswer(null),
    value: { data: nothing, stat: zeroStat },
    text: 'get the data of /a',
  },
  {
    name: 'getChildren',
    call: (store) => store.getChildren('/a'),
    type: op.GET_CHILDREN2,
    body: new JuteWriter().int(1).string('b').raw(emptyStat).bytes(),
    value: { children: ['b'], stat: zeroStat },
    text: 'get the children of /a',
  },
  {
    name: 'exists',
    call: (store) => store.exists('/a'),
    type: op.EXISTS,
    body: emptyStat,
    value: zeroStat,
    text: 'look for /a',
  },
  {
    name: 'create',
    call: (store) => store.create('/a', nothing, 'ephemeral-sequential'),
    type: op.CREATE,
    body: text('/a0000000001'),
    value: '/a0000000001',
    text: 'create /a',
  },
  {
    name: 'set',
    call: (store) => store.set('/a', nothing, 0),
    type: op.SET_DATA,
    body: emptyStat,
    value: zeroStat,
    text: 'set /a',
  },
  {
    name: 'delete',
    call: (store) => store.delete('/a', 0),
    type: op.DELETE,
    body: nothing,
    value: undefined,
    text: 'delete /a',
  },
  {
    name: 'getAcl',
    call: (store) => store.getAcl('/a'),
    type: op.GET_ACL,
    body: new JuteWriter().int(1).int(31).string('world').string('anyone').raw(emptyStat).bytes(),
    value: { acl: openAcl, stat: zeroStat },
    text: 'get the ACL of /a',
  },
  {
    name: 'setAcl',
    call: (store) => store.setAcl('/a', openAcl, 0),
    type: op.SET_ACL,
    body: emptyStat,
    value: zeroStat,
    text: 'set the ACL of /a',
  },
  {
    name: 'sync',
    call: (store) => store.sync('/a'),
    type: op.SYNC,
    body: text('/a'),
    value: undefined,
    text: 'sync /a',
  },
  {
    name: 'multi',
    call: (store) => store.multi(all),
    type: op.MULTI,
    body: Buffer.concat([
      result(op.CREATE, text('/a')),
      result(op.SET_DATA, emptyStat),
      result(op.CHECK),
      result(op.DELETE),
      endOfResults,
    ]),
    value: [
      { type: 'create', path: '/a' },
      { type: 'set', stat: zeroStat },
      { type: 'check' },
      { type: 'delete' },
    ],
    text: 'multi of 4 operations',
  },
];

const writes = new Set([op.CREATE, op.SET_DATA, op.DELETE, op.MULTI]);

describe.each(calls)('$name', ({ call, type, body, value, text: what }) => {
  /** Whether the call is a write whose commit counts as a proof. */
  const proves = writes.has(type);

  it('sends one request, and returns what the server answers', async () => {
    const { store, stream } = await connectedStage();
    const answer = call(store);
    expect(stream.types).toEqual([type]);
    await stream.reply(1, { body });
    expect(await soon(answer)).toEqual(value);
  });

  it('fails with the error of the server, and says what was tried', async () => {
    const { store, stream } = await connectedStage();
    const failure = failureOf(call(store));
    await stream.reply(1, { error: -114 });
    expect(await soon(failure)).toMatchObject({
      code: 'INVALID_ACL',
      outcomeUnknown: false,
      message: `${what}: the server rejected this ACL (is the session authenticated?) (INVALID_ACL)`,
    });
  });

  it('fails with an unknown outcome if there is no answer in time', async () => {
    const { clock, store, stream } = await connectedStage('10.0.0.1:2181', { callTimeoutMs: 300 });
    const failure = failureOf(call(store));
    await clock.advance(299);
    await expect(soon(failure)).rejects.toThrow('has not settled');
    await clock.advance(1);
    expect(await soon(failure)).toMatchObject({
      code: 'TIMEOUT',
      outcomeUnknown: true,
      message: `${what}: no response within 300 ms`,
    });
    // The answer that comes too late is for nobody.
    await stream.reply(1, { body });
    expect(store.state).toBe('CONNECTED');
  });

  it(`${proves ? 'proves' : 'does not prove'} that the ensemble knows of earlier signs of life`, async () => {
    const { clock, store, stream } = await connectedStage();
    expect(store.provenAliveAtMs()).toBe(0);
    await clock.advance(1_500);
    await stream.pong();
    await clock.advance(1_499);
    const early = call(store);
    await stream.reply(1, { body });
    await soon(early);
    expect(store.provenAliveAtMs()).toBe(0);
    await clock.advance(1);
    const failed = failureOf(call(store));
    await stream.reply(2, { error: -114 });
    await soon(failed);
    expect(store.provenAliveAtMs()).toBe(0);
    const answered = call(store);
    await stream.reply(3, { body });
    await soon(answered);
    expect(store.provenAliveAtMs()).toBe(proves ? 1_500 : 0);
  });

  it('is not sent without a connection', async () => {
    const { store } = await stage();
    expect(await failureNow(call(store))).toMatchObject({
      code: 'CONNECTION_LOSS',
      message: `${what}: not connected: 10.0.0.1:2181: no response yet`,
    });
  });
});

describe('a call', () => {
  it('may have a deadline of its own', async () => {
    const { clock, store } = await connectedStage();
    const failure = failureOf(store.getData('/a', { timeoutMs: 20 }));
    await clock.advance(20);
    expect((await soon(failure)).message).toContain('no response within 20 ms');
  });

  it('ends at its signal, and leaves neither timer nor listener behind', async () => {
    const { clock, store } = await connectedStage();
    const before = clock.armed;
    const controller = new AbortController();
    const failure = failureOf(store.getData('/a', { signal: controller.signal }));
    expect(clock.armed).toBe(before + 1);
    controller.abort(new Error('the caller is closing'));
    expect(await soon(failure)).toMatchObject({
      code: 'ABORTED',
      message: 'get the data of /a: cancelled by the caller',
      cause: { message: 'the caller is closing' },
    });
    expect(clock.armed).toBe(before);
  });

  it('is not sent if its signal has been given already', async () => {
    const { store, stream } = await connectedStage();
    expect((await failureNow(store.getData('/a', { signal: AbortSignal.abort() }))).code).toBe('ABORTED');
    expect(stream.types).toEqual([]);
  });

  it('that was answered leaves neither timer nor listener behind', async () => {
    const { clock, store, stream } = await connectedStage();
    const before = clock.armed;
    const { signal } = new AbortController();
    const read = store.getData('/a', { signal });
    await stream.reply(1, { body: dataAnswer(nothing) });
    await soon(read);
    expect(clock.armed).toBe(before);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('that may not do something says as whom', async () => {
    const credentials = [{ scheme: 'digest', credentials: 'user:secret' }];
    const on = await stage('10.0.0.1:2181', { credentials });
    const stream = streamAt(on, 0);
    await stream.grant();
    await stream.reply(-4);
    const failure = failureOf(on.store.getData('/a'));
    await stream.reply(1, { error: -102 });
    const { message, identities, path } = await soon(failure);
    expect(message).toMatch(/\(NO_AUTH\), as .*digest:user/);
    expect(message).not.toContain('secret');
    expect({ identities, path }).toEqual({ identities: ['digest:user'], path: '/a' });
  });

  it('of exists finds nothing without an error', async () => {
    const { store, stream } = await connectedStage();
    const found = store.exists('/a');
    await stream.reply(1, { error: -101 });
    expect(await soon(found)).toBeNull();
  });

  it('with a path that ZooKeeper would refuse is not sent', async () => {
    const { store, stream } = await connectedStage();
    expect(await failureNow(store.getData('a'))).toMatchObject({
      code: 'BAD_ARGUMENTS',
      message: 'get the data of a: the path must start with a slash',
    });
    expect(stream.types).toEqual([]);
  });
});

describe('a mistake that only the client library finds', () => {
  it('is an error of the caller, and is not sent', async () => {
    const { store, stream } = await connectedStage('10.0.0.1:2181', { acl: () => [] });
    expect(await failureNow(store.create('/a', nothing, 'persistent'))).toMatchObject({
      code: 'BAD_ARGUMENTS',
      outcomeUnknown: false,
      path: '/a',
      cause: expect.any(Error),
    });
    expect(stream.types).toEqual([]);
  });
});

describe('an error code', () => {
  it.each([
    [-1, 'SYSTEM_ERROR', 'SYSTEM_ERROR'],
    [-4, 'CONNECTION_LOSS', 'CONNECTION_LOSS'],
    [-6, 'UNIMPLEMENTED', 'UNIMPLEMENTED'],
    [-7, 'OPERATION_TIMEOUT', 'OPERATION_TIMEOUT'],
    [-13, 'NEW_CONFIG_NO_QUORUM', 'NEW_CONFIG_NO_QUORUM'],
    [-101, 'NO_NODE', 'the znode does not exist (NO_NODE)'],
    [
      -108,
      'NO_CHILDREN_FOR_EPHEMERALS',
      'an ephemeral znode cannot have children (NO_CHILDREN_FOR_EPHEMERALS)',
    ],
    [-110, 'NODE_EXISTS', 'the znode already exists (NODE_EXISTS)'],
    [-111, 'NOT_EMPTY', 'the znode has children (NOT_EMPTY)'],
    [-118, 'SESSION_MOVED', 'the session has moved to another server (SESSION_MOVED)'],
    [-119, 'NOT_READ_ONLY', 'NOT_READ_ONLY'],
    [-122, 'REQUEST_TIMEOUT', 'REQUEST_TIMEOUT'],
    [-125, 'QUOTA_EXCEEDED', 'a quota of the ensemble was exceeded (QUOTA_EXCEEDED)'],
    [-127, 'THROTTLED', 'the server is overloaded and refused the request (THROTTLED)'],
    [-999, 'UNKNOWN', 'the server responded with the unknown error code -999'],
  ])('%i is %s, in words', async (error, code, text) => {
    const { store, stream } = await connectedStage();
    const failure = failureOf(store.delete('/a', 0));
    await stream.reply(1, { error });
    expect(await soon(failure)).toMatchObject({ code, message: `delete /a: ${text}` });
  });
});

it('a listener that throws harms nobody, and is logged with what it listens to', async () => {
  const { logged, store, stream, changes } = await connectedStage();
  store.onChange(() => {
    throw new Error('a bug');
  });
  store.onState(() => {
    throw new Error('another bug');
  });
  await stream.notify(3, '/a');
  await stream.close();
  expect(changes).toEqual(['/a']);
  expect(store.state).toBe('SUSPENDED');
  const said = logged.map(({ message }) => message).filter((message) => message.includes('listener'));
  expect(said).toEqual([
    expect.stringContaining('changes in ZooKeeper'),
    expect.stringContaining('the connection to ZooKeeper'),
  ]);
});

describe('a multi', () => {
  it('sends each operation with what belongs to it', async () => {
    const { store, stream } = await connectedStage();
    void store
      .multi([...all, { type: 'set', path: '/b', data: Buffer.from('x'), version: 7 }])
      .catch(() => null);
    const body = stream.requests[0]?.body;
    if (body === undefined) throw new Error('no request');
    const header = () => [body.int(), body.bool(), body.int()];
    const text = () => body.buffer()?.toString();
    expect([header(), body.string(), text()]).toEqual([[op.CREATE, false, -1], '/a', '']);
    const acl = body.vector(() => [body.int(), body.string(), body.string()]);
    expect([acl, body.int()]).toEqual([[[31, 'world', 'anyone']], 0]);
    expect([header(), body.string(), text(), body.int()]).toEqual([[op.SET_DATA, false, -1], '/a', '', 0]);
    expect([header(), body.string(), body.int()]).toEqual([[op.CHECK, false, -1], '/a', 0]);
    expect([header(), body.string(), body.int()]).toEqual([[op.DELETE, false, -1], '/a', -1]);
    expect([header(), body.string(), text(), body.int()]).toEqual([[op.SET_DATA, false, -1], '/b', 'x', 7]);
    expect([header(), body.remaining]).toEqual([[-1, true, -1], 0]);
  });

  it('names the operation that failed, and its znode', async () => {
    const { store, stream } = await connectedStage();
    const failure = failureOf(store.multi(all));
    const failed = (code: number) => result(op.ERROR, new JuteWriter().int(code).bytes());
    await stream.reply(1, {
      body: Buffer.concat([failed(0), failed(-103), failed(-2), failed(-2), endOfResults]),
    });
    expect(await soon(failure)).toMatchObject({
      code: 'BAD_VERSION',
      failedOp: 1,
      verb: 'set',
      path: '/a',
      outcomeUnknown: false,
      message:
        'multi of 4 operations: operation 2, set /a: the znode does not have the expected version (BAD_VERSION)',
    });
  });

  it('fails if the results do not belong to its operations', async () => {
    const { store, stream } = await connectedStage();
    const failure = failureOf(store.multi(all));
    await stream.reply(1, { body: Buffer.concat([result(op.CHECK), endOfResults]) });
    const { code, message } = await soon(failure);
    expect(code).toBe('CONNECTION_LOSS');
    expect(message).toContain('invalid response: results that do not match the operations');
  });

  it('takes the prefix of a sequential znode that ends in a slash, and no other such path', async () => {
    const { store, stream } = await connectedStage();
    const create = (mode: 'persistent' | 'persistent-sequential'): Operation[] => [
      { type: 'create', path: '/queue/', data: nothing, mode },
    ];
    void store.multi(create('persistent-sequential')).catch(() => null);
    expect(stream.types).toEqual([op.MULTI]);
    expect((await failureNow(store.multi(create('persistent')))).message).toContain(
      'must not contain an empty name',
    );
  });

  it('of which an operation failed proves nothing', async () => {
    const { clock, store, stream } = await connectedStage();
    await clock.advance(1_500);
    await stream.pong();
    await clock.advance(1_500);
    const failure = failureOf(store.multi(all));
    const failed = (code: number) => result(op.ERROR, new JuteWriter().int(code).bytes());
    await stream.reply(1, {
      body: Buffer.concat([failed(0), failed(-103), failed(-2), failed(-2), endOfResults]),
    });
    await soon(failure);
    expect(store.provenAliveAtMs()).toBe(0);
  });

  it('of nothing is refused', async () => {
    const { store, stream } = await connectedStage();
    expect(await failureNow(store.multi([]))).toMatchObject({
      code: 'BAD_ARGUMENTS',
      message: 'multi of 0 operations: a multi requires at least one operation',
    });
    expect(stream.types).toEqual([]);
  });
});

describe('waiting for the connection', () => {
  it('ends with the connection, without a deadline', async () => {
    const on = await stage();
    const before = on.clock.armed;
    const connected = on.store.connected();
    expect(on.clock.armed).toBe(before);
    await on.clock.advance(5_000);
    await expect(soon(connected)).rejects.toThrow('has not settled');
    await streamAt(on, 0).grant();
    await soon(connected);
    await soon(on.store.connected());
  });

  it('says at its deadline why there is none', async () => {
    const { clock, store, streams } = await stage('10.0.0.1:2181,10.0.0.2:2181');
    const failure = failureOf(store.connected({ timeoutMs: 100 }));
    await streamAt({ streams }, 0).close();
    await clock.advance(100);
    const { code, message, cause } = await soon(failure);
    expect(code).toBe('TIMEOUT');
    expect(message).toMatch(
      /^connect to ZooKeeper: no connection within 100 ms: connection to 10\.0\.0\.1 port 2181: .*; 10\.0\.0\.2:2181: no response yet$/,
    );
    expect(cause).toEqual(store.unreachable);
    expect(store.unreachable?.servers).toMatchObject([
      { server: '10.0.0.1:2181', why: expect.stringMatching(/^the server closed the connection without/) },
      { server: '10.0.0.2:2181', why: 'no response yet' },
    ]);
  });

  it('says at its deadline that the connection was lost', async () => {
    const { clock, store, stream } = await connectedStage();
    await stream.close();
    const failure = failureOf(store.connected({ timeoutMs: 100 }));
    await clock.advance(100);
    expect((await soon(failure)).message).toBe(
      'connect to ZooKeeper: no response within 100 ms: not connected: connection to 10.0.0.1 port 2181: the server closed the connection',
    );
    expect(store.unreachable).toBeNull();
  });

  it.each(['close', 'expire'] as const)('ends when the session is over (%s)', async (how) => {
    const { clock, store, stream } = await connectedStage();
    await stream.close();
    const failure = failureOf(store.connected());
    if (how === 'close') void store.close();
    else await clock.advance(8_000);
    expect((await soon(failure)).code).toBe('SESSION_EXPIRED');
    expect((await failureNow(store.connected())).code).toBe('SESSION_EXPIRED');
  });
});

describe('the session of a store', () => {
  it('has no id before it exists', async () => {
    const on = await stage('10.0.0.1:2181', { resume: { id: 9n, password: Buffer.alloc(16, 1) } });
    expect(on.store.sessionId).toBe(0n);
    await streamAt(on, 0).grant({ sessionId: 9n });
    expect(on.store.sessionId).toBe(9n);
  });

  it('has a password that callers cannot change', async () => {
    const { store } = await connectedStage();
    store.sessionPassword.fill(0);
    expect(store.sessionPassword.toString()).toBe('sixteen bytes...');
  });

  it('would not last to the renewal of a claim after a long silence', async () => {
    const { clock, store } = await connectedStage();
    expect(store.lastsToRenewal()).toBe(true);
    clock.freeze(3_500);
    expect(store.lastsToRenewal()).toBe(false);
  });

  it('is in touch since the first answer, until there is a gap', async () => {
    const { clock, store, stream } = await connectedStage();
    await clock.advance(1_500);
    await stream.pong();
    expect(store.inTouchSinceMs()).toBe(1_500);
    await clock.advance(1_500);
    await stream.pong();
    expect(store.inTouchSinceMs()).toBe(1_500);
    clock.freeze(1_700);
    expect(store.inTouchSinceMs()).toBe(4_700);
  });
});
