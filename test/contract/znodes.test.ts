import { beforeEach, describe, expect, it } from 'vitest';
import { createFlags } from '../../src/embedded/tree.js';
import { contractSetting } from './setting.js';
import type { WireClient } from './wire-client.js';
import { readStat } from './wire-records.js';

const setting = contractSetting();
let client: WireClient;
let root: string;

beforeEach(async () => {
  client = await setting.connect();
  root = setting.root;
});

async function createdPath(path: string, flags: number): Promise<string> {
  const { error, body } = await client.create(path, { flags });
  expect(error).toBe('OK');
  return body.string();
}

describe('create', () => {
  it('answers the path, and gives a fresh znode version 0 and one zxid for all', async () => {
    const { zxid, body } = await client.create(`${root}/a`, { data: 'hello' });
    expect(body.string()).toBe(`${root}/a`);
    const stat = await client.stat(`${root}/a`);
    expect(stat).toMatchObject({
      czxid: zxid,
      mzxid: zxid,
      pzxid: zxid,
      version: 0,
      cversion: 0,
      aversion: 0,
      ephemeralOwner: 0n,
      dataLength: 5,
      numChildren: 0,
    });
    expect(stat.ctimeMs).toBe(stat.mtimeMs);
    expect(Math.abs(stat.ctimeMs - Date.now())).toBeLessThan(60_000);
  });

  it('marks its parent: cversion, pzxid, number of children, and nothing else', async () => {
    const before = await client.stat(root);
    const { zxid } = await client.create(`${root}/a`);
    expect(await client.stat(root)).toEqual({
      ...before,
      cversion: before.cversion + 1,
      pzxid: zxid,
      numChildren: 1,
    });
  });

  it.each([
    ['a missing parent', '/missing/a', 'NO_NODE'],
    ['an empty name', '//a', 'NO_NODE'],
    ['a slash at the end', '/a/', 'NO_NODE'],
    ['a dot for a name', '/.', 'BAD_ARGUMENTS'],
    ['two dots for a name', '/..', 'BAD_ARGUMENTS'],
    ['a null character', '/a\0b', 'BAD_ARGUMENTS'],
    ['a control character', '/a\u0001', 'BAD_ARGUMENTS'],
    ['a private-use character', '/a\ue000', 'BAD_ARGUMENTS'],
  ])('refuses %s', async (_, suffix, error) => {
    expect((await client.create(root + suffix)).error).toBe(error);
  });

  it('refuses paths that are not absolute', async () => {
    expect((await client.create('relative')).error).toBe('BAD_ARGUMENTS');
    expect((await client.create('')).error).toBe('BAD_ARGUMENTS');
    expect((await client.create('relative/child')).error).toBe('NO_NODE');
  });

  it('takes names outside ASCII', async () => {
    expect(await createdPath(`${root}/zürich-東京`, 0)).toBe(`${root}/zürich-東京`);
    expect(await client.children(root)).toEqual(['zürich-東京']);
  });

  it('refuses what exists already', async () => {
    await client.create(`${root}/a`);
    expect((await client.create(`${root}/a`)).error).toBe('NODE_EXISTS');
    expect((await client.create('/')).error).toBe('NODE_EXISTS');
  });

  it('refuses unknown flags', async () => {
    expect((await client.create(`${root}/a`, { flags: 7 })).error).toBe('BAD_ARGUMENTS');
    expect((await client.create(`${root}/a`, { flags: -1 })).error).toBe('BAD_ARGUMENTS');
  });

  it('distinguishes no data from empty data', async () => {
    await client.create(`${root}/null`, { data: null });
    await client.create(`${root}/empty`, { data: '' });
    expect((await client.read('getData', `${root}/null`)).body.buffer()).toBe(null);
    expect((await client.read('getData', `${root}/empty`)).body.buffer()).toEqual(Buffer.alloc(0));
    expect((await client.stat(`${root}/null`)).dataLength).toBe(0);
  });

  it('create2 answers the stat as well', async () => {
    const reply = await client.create2(`${root}/a`, { data: 'xyz', flags: createFlags.ephemeral });
    expect(reply.body.string()).toBe(`${root}/a`);
    expect(readStat(reply.body)).toEqual(await client.stat(`${root}/a`));
  });

  it('has no time to live unless it is switched on', async () => {
    const reply = await client.createTtl(`${root}/a`, 1000);
    expect(reply.error).toBe('UNIMPLEMENTED');
    expect((await client.ping()).error).toBe('OK');
  });
});

describe('ephemeral znodes', () => {
  it('name their session', async () => {
    await client.create(`${root}/e`, { flags: createFlags.ephemeral });
    expect((await client.stat(`${root}/e`)).ephemeralOwner).toBe(client.sessionId);
  });

  it('have no children, of any kind', async () => {
    await client.create(`${root}/e`, { flags: createFlags.ephemeral });
    for (const flags of [0, 1, 2, 3]) {
      expect((await client.create(`${root}/e/a`, { flags })).error).toBe('NO_CHILDREN_FOR_EPHEMERALS');
    }
  });

  it('can be deleted and set by any session', async () => {
    const other = await setting.connect();
    await client.create(`${root}/e`, { flags: createFlags.ephemeral });
    expect((await other.setData(`${root}/e`, 'theirs')).error).toBe('OK');
    expect((await other.delete(`${root}/e`)).error).toBe('OK');
  });

  it('end with their session, whatever became of others that it had', async () => {
    const owner = await setting.connect();
    for (const name of ['a', 'b', 'c'])
      await owner.create(`${root}/${name}`, { flags: createFlags.ephemeral });
    await client.delete(`${root}/b`);
    await client.create(`${root}/b`);
    await owner.closeSession();
    expect(await client.children(root)).toEqual(['b']);
  });

  it('end with their session in one transaction', async () => {
    const owner = await setting.connect();
    for (const name of ['a', 'b', 'c'])
      await owner.create(`${root}/${name}`, { flags: createFlags.ephemeral });
    await owner.create(`${root}/stays`);
    const before = await client.stat(root);
    await owner.closeSession();
    expect(await client.children(root)).toEqual(['stays']);
    const after = await client.stat(root);
    expect(after.pzxid).toBeGreaterThan(before.pzxid);
    expect(after.cversion).toBe(before.cversion + 3);
  });
});

describe('sequential znodes', () => {
  it('count in ten digits, per parent, whatever the prefix and kind', async () => {
    expect(await createdPath(`${root}/a-`, createFlags.sequential)).toBe(`${root}/a-0000000000`);
    expect(await createdPath(`${root}/b-`, createFlags.sequential + createFlags.ephemeral)).toBe(
      `${root}/b-0000000001`,
    );
    await client.create(`${root}/plain`);
    expect(await createdPath(`${root}/`, createFlags.sequential)).toBe(`${root}/0000000003`);
    expect(await createdPath(`${root}/plain/a-`, createFlags.sequential)).toBe(`${root}/plain/a-0000000000`);
  });

  it('do not count deletions, data or failures', async () => {
    await client.create(`${root}/x`);
    await client.delete(`${root}/x`);
    await client.create(`${root}/x/y/z`, { flags: createFlags.sequential });
    await client.setData(root, 'data');
    expect(await createdPath(`${root}/n`, createFlags.sequential)).toBe(`${root}/n0000000001`);
    expect((await client.stat(root)).cversion).toBe(3);
  });

  it('are refused when the very name exists, again and again', async () => {
    await client.create(`${root}/n0000000001`);
    expect((await client.create(`${root}/n`, { flags: createFlags.sequential })).error).toBe('NODE_EXISTS');
    expect((await client.create(`${root}/n`, { flags: createFlags.sequential })).error).toBe('NODE_EXISTS');
    expect(await createdPath(`${root}/m`, createFlags.sequential)).toBe(`${root}/m0000000001`);
  });
});

describe('setData', () => {
  it('raises the version by one, and moves mzxid alone', async () => {
    await client.create(`${root}/a`, { data: '1' });
    const before = await client.stat(`${root}/a`);
    const { zxid, body } = await client.setData(`${root}/a`, 'longer');
    const after = readStat(body);
    expect(after).toEqual({
      ...before,
      version: 1,
      mzxid: zxid,
      mtimeMs: after.mtimeMs,
      dataLength: 6,
    });
    expect(await client.stat(`${root}/a`)).toEqual(after);
    const read = await client.read('getData', `${root}/a`);
    expect(read.body.buffer()?.toString()).toBe('longer');
    expect(readStat(read.body)).toEqual(after);
  });

  it('checks the version, 0 included; -1 is any', async () => {
    await client.create(`${root}/a`);
    expect((await client.setData(`${root}/a`, 'x', 1)).error).toBe('BAD_VERSION');
    expect((await client.setData(`${root}/a`, 'x', 0)).error).toBe('OK');
    expect((await client.setData(`${root}/a`, 'x', 0)).error).toBe('BAD_VERSION');
    expect((await client.setData(`${root}/a`, 'x', -1)).error).toBe('OK');
    expect((await client.setData(`${root}/a`, 'x', -2)).error).toBe('BAD_VERSION');
  });

  it('refuses missing znodes and bad paths', async () => {
    expect((await client.setData(`${root}/missing`, 'x')).error).toBe('NO_NODE');
    expect((await client.setData(`${root}//a`, 'x')).error).toBe('BAD_ARGUMENTS');
    expect((await client.setData('', 'x')).error).toBe('BAD_ARGUMENTS');
  });

  it('can set a root and null data', async () => {
    expect((await client.setData('/', '')).error).toBe('OK');
    await client.setData(root, null);
    expect((await client.read('getData', root)).body.buffer()).toBe(null);
  });
});

describe('delete', () => {
  it('marks its parent with its zxid', async () => {
    await client.create(`${root}/a`);
    const before = await client.stat(root);
    const { zxid } = await client.delete(`${root}/a`, 0);
    expect(await client.stat(root)).toEqual({
      ...before,
      cversion: before.cversion + 1,
      pzxid: zxid,
      numChildren: 0,
    });
    expect((await client.read('exists', `${root}/a`)).error).toBe('NO_NODE');
  });

  it('checks, in this order: existence, version, children', async () => {
    await client.create(`${root}/a`);
    await client.create(`${root}/a/b`);
    expect((await client.delete(`${root}/missing`, 3)).error).toBe('NO_NODE');
    expect((await client.delete(`${root}/missing/a`)).error).toBe('NO_NODE');
    expect((await client.delete(`${root}/a`, 3)).error).toBe('BAD_VERSION');
    expect((await client.delete(`${root}/a`, 0)).error).toBe('NOT_EMPTY');
  });

  it("refuses bad paths and ZooKeeper's own znodes", async () => {
    for (const path of ['/', '', 'relative', '/zookeeper', '/zookeeper/quota', '/zookeeper/config']) {
      expect((await client.delete(path)).error, path).toBe('BAD_ARGUMENTS');
    }
  });
});

describe('reading', () => {
  it('answers NO_NODE for what is not there, whatever the path', async () => {
    for (const path of [`${root}/missing`, 'relative', `${root}/`]) {
      for (const opcode of ['exists', 'getData', 'getChildren', 'getChildren2'] as const) {
        expect((await client.read(opcode, path)).error, `${opcode} ${path}`).toBe('NO_NODE');
      }
    }
  });

  it('lists children, with the stat in getChildren2', async () => {
    for (const name of ['b', 'a', 'c']) await client.create(`${root}/${name}`);
    await client.create(`${root}/a/below`);
    expect(await client.children(root)).toEqual(['a', 'b', 'c']);
    const { body } = await client.read('getChildren2', root);
    expect(body.vector(() => body.string()).sort()).toEqual(['a', 'b', 'c']);
    expect(readStat(body)).toEqual(await client.stat(root));
  });

  it("counts descendants, and lists a session's own ephemerals", async () => {
    await client.create(`${root}/a`);
    await client.create(`${root}/a/b`);
    await client.create(`${root}/e`, { flags: createFlags.ephemeral });
    await client.create(`${root}/a/f`, { flags: createFlags.ephemeral });
    const count = await client.request('getAllChildrenNumber', (writer) => writer.string(root));
    expect(count.body.int()).toBe(4);
    const { body } = await client.request('getEphemerals', (writer) => writer.string(`${root}/a`));
    expect(body.vector(() => body.string())).toEqual([`${root}/a/f`]);
  });

  it('sync answers the path, whether it exists or not', async () => {
    const { error, body } = await client.request('sync', (writer) => writer.string(`${root}/missing`));
    expect(error).toBe('OK');
    expect(body.string()).toBe(`${root}/missing`);
  });

  it('reads in batches, each read with its own result or error', async () => {
    await client.create(`${root}/a`, { data: 'hello' });
    const results = await client.multiRead([
      ['getData', `${root}/a`],
      ['getData', `${root}/missing`],
      ['getChildren', root],
    ]);
    expect(results).toEqual([{ data: 'hello' }, { error: 'NO_NODE' }, { children: ['a'] }]);
  });
});

describe('zxids', () => {
  it('grow by one with every write, failed ones included, and not with reads', async () => {
    const first = await client.create(`${root}/a`);
    const failed = await client.create(`${root}/a`);
    expect(failed.zxid).toBe(first.zxid + 1n);
    const read = await client.read('exists', root);
    expect(read.zxid).toBe(failed.zxid);
    expect((await client.ping()).zxid).toBe(failed.zxid);
    const opened = await setting.connect();
    expect((await opened.ping()).zxid).toBe(failed.zxid + 1n);
  });
});

describe('packets', () => {
  it('may be as long as jute.maxbuffer, and no longer', async () => {
    const limit = 0xfffff;
    await client.create(`${root}/a`);
    const overhead = 8 + 4 + `${root}/a`.length + 4 + 4;
    expect((await client.setData(`${root}/a`, 'x'.repeat(limit - overhead))).error).toBe('OK');
    expect((await client.stat(`${root}/a`)).dataLength).toBe(limit - overhead);
    await expect(client.setData(`${root}/a`, 'x'.repeat(limit - overhead + 1))).rejects.toThrow();
    const other = await setting.connect();
    expect((await other.stat(`${root}/a`)).version).toBe(1);
  });

  it('that hold no whole request are answered with MARSHALLING_ERROR', async () => {
    for (const opcode of ['create', 'setData', 'getData', 'exists', 'multi'] as const) {
      expect((await client.request(opcode, (writer) => writer.int(1000))).error, opcode).toBe(
        'MARSHALLING_ERROR',
      );
    }
    expect((await client.ping()).error).toBe('OK');
  });

  it('of an unknown kind are answered with UNIMPLEMENTED, and the connection ends', async () => {
    expect((await client.request(777)).error).toBe('UNIMPLEMENTED');
    await expect(client.ping()).rejects.toThrow();
  });
});
