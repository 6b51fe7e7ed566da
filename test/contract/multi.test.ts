import { beforeEach, describe, expect, it } from 'vitest';
import { opcodes } from '../../src/embedded/records.js';
import { createFlags } from '../../src/embedded/tree.js';
import { contractSetting } from './setting.js';
import { eventTypes, type WireClient } from './wire-client.js';
import { operations } from './wire-records.js';

const { create, create2, setData, delete: remove, check } = operations;
const setting = contractSetting();
let client: WireClient;
let root: string;

beforeEach(async () => {
  client = await setting.connect();
  root = setting.root;
});

describe('a multi that succeeds', () => {
  it('answers each operation in order, under one zxid', async () => {
    await client.create(`${root}/old`);
    await client.create(`${root}/set`);
    const { error, results } = await client.multi([
      create(`${root}/a`),
      create2(`${root}/b`, { data: 'bb' }),
      setData(`${root}/set`, 'x', 0),
      remove(`${root}/old`, 0),
      check(root),
    ]);
    expect(error).toBe('OK');
    expect(results.map(({ type, path }) => [type, path])).toEqual([
      [opcodes.create, `${root}/a`],
      // A create2 in a multi has the result of a plain create, without the stat.
      [opcodes.create, `${root}/b`],
      [opcodes.setData, undefined],
      [opcodes.delete, undefined],
      [opcodes.check, undefined],
    ]);
    const [a, b, set, parent] = await Promise.all(
      [`${root}/a`, `${root}/b`, `${root}/set`, root].map((path) => client.stat(path)),
    );
    expect(results[2]?.stat).toEqual(set);
    expect([b?.czxid, set?.mzxid, parent?.pzxid]).toEqual([a?.czxid, a?.czxid, a?.czxid]);
  });

  it('sees its own earlier operations', async () => {
    const { results } = await client.multi([
      create(`${root}/a`),
      create(`${root}/a/b`, { data: '1' }),
      setData(`${root}/a/b`, '2', 0),
      check(`${root}/a/b`, 1),
      remove(`${root}/a/b`, 1),
      create(`${root}/a/n-`, { flags: createFlags.sequential }),
      create(`${root}/a/n-`, { flags: createFlags.sequential }),
    ]);
    expect(results.every(({ error }) => error === 'OK')).toBe(true);
    expect(results.slice(5).map(({ path }) => path)).toEqual([
      `${root}/a/n-0000000001`,
      `${root}/a/n-0000000002`,
    ]);
    expect(await client.children(`${root}/a`)).toEqual(['n-0000000001', 'n-0000000002']);
  });

  it('takes one zxid, even when it is all checks, and then changes nothing', async () => {
    const before = await client.stat(root);
    const { zxid } = await client.ping();
    expect((await client.multi([check(root, 0), check(root)])).error).toBe('OK');
    expect((await client.ping()).zxid).toBe(zxid + 1n);
    expect(await client.stat(root)).toEqual(before);
  });

  it('may be empty', async () => {
    expect(await client.multi([])).toEqual({ error: 'OK', results: [] });
  });

  it('creates ephemerals for its session', async () => {
    await client.multi([create(`${root}/e`, { flags: createFlags.ephemeral })]);
    expect((await client.stat(`${root}/e`)).ephemeralOwner).toBe(client.sessionId);
  });
});

describe('a multi that fails', () => {
  it('says which operation failed and why, and that the later ones were not tried', async () => {
    const { error, results } = await client.multi([
      create(`${root}/a`),
      check(root, 7),
      create(`${root}/b`),
      remove(`${root}/missing`),
    ]);
    expect(error).toBe('OK');
    expect(results.map((result) => result.error)).toEqual([
      'OK',
      'BAD_VERSION',
      'RUNTIME_INCONSISTENCY',
      'RUNTIME_INCONSISTENCY',
    ]);
    expect(results.map(({ type }) => type)).toEqual([-1, -1, -1, -1]);
  });

  it('leaves no trace but its zxid', async () => {
    await client.create(`${root}/a`, { data: 'kept' });
    await client.create(`${root}/gone`);
    const paths = [root, `${root}/a`, `${root}/gone`];
    const before = await Promise.all(paths.map((path) => client.stat(path)));
    const { zxid } = await client.ping();
    await client.multi([
      create(`${root}/n-`, { flags: createFlags.sequential }),
      create(`${root}/e`, { flags: createFlags.ephemeral }),
      setData(`${root}/a`, 'changed', 0),
      setData(`${root}/a`, 'twice', 1),
      remove(`${root}/gone`),
      create(`${root}/gone`),
      check(`${root}/a`, 0),
    ]);
    expect(await Promise.all(paths.map((path) => client.stat(path)))).toEqual(before);
    expect((await client.ping()).zxid).toBe(zxid + 1n);
    expect((await client.read('getData', `${root}/a`)).body.buffer()?.toString()).toBe('kept');
    expect(await client.children(root)).toEqual(['a', 'gone']);
    const next = await client.create(`${root}/n-`, { flags: createFlags.sequential });
    expect(next.body.string()).toBe(`${root}/n-0000000002`);
    const ephemerals = await client.request('getEphemerals', (writer) => writer.string(root));
    expect(ephemerals.body.vector(() => ephemerals.body.string())).toEqual([]);
  });

  it.each([
    ['a create of what exists', () => create(root), 'NODE_EXISTS'],
    ['a create below nothing', () => create(`${root}/x/y`), 'NO_NODE'],
    ['a check of what is missing', () => check(`${root}/x`), 'NO_NODE'],
    ['a set at another version', () => setData(root, '', 4), 'BAD_VERSION'],
    ['a delete of a parent', () => remove(setting.root), 'NOT_EMPTY'],
    ['a bad path', () => create(`${root}/a/../b`), 'NO_NODE'],
    ['a bad name', () => create(`${root}/..`), 'BAD_ARGUMENTS'],
  ] as const)('gives the error of %s', async (_, operation, error) => {
    await client.create(`${root}/child`);
    const { results } = await client.multi([check(root), operation()]);
    expect(results.map((result) => result.error)).toEqual(['OK', error]);
  });

  it('wakes nobody', async () => {
    const watcher = await setting.connect();
    await watcher.read('getChildren', root, true);
    await watcher.read('getData', root, true);
    await watcher.read('exists', `${root}/a`, true);
    await client.multi([create(`${root}/a`), setData(root, 'x'), check(root, 9)]);
    await watcher.ping();
    expect(watcher.events).toEqual([]);
    await client.multi([create(`${root}/a`), setData(root, 'x')]);
    await watcher.ping();
    expect(watcher.events).toEqual([
      { type: eventTypes.created, path: `${root}/a` },
      { type: eventTypes.childrenChanged, path: root },
      { type: eventTypes.dataChanged, path: root },
    ]);
  });
});

describe('a multi that makes no sense', () => {
  it('is answered as a whole, and changes nothing', async () => {
    const reply = await client.request('multi', (writer) => {
      create(`${root}/a`).write(writer.int(opcodes.create).bool(false).int(-1));
      writer.int(opcodes.getACL).bool(false).int(-1).string(root);
      writer.int(-1).bool(true).int(-1);
    });
    expect(reply.error).toBe('MARSHALLING_ERROR');
    expect((await client.read('exists', `${root}/a`)).error).toBe('NO_NODE');
  });
});
