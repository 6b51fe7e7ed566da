import { beforeEach, describe, expect, it } from 'vitest';
import { type Acl, openAcl, permissions } from '../../src/model/acl.js';
import { digestIdentity } from '../../src/zookeeper/digest.js';
import { contractSetting } from './setting.js';
import type { WireClient } from './wire-client.js';
import { operations } from './wire-records.js';

const setting = contractSetting();
let client: WireClient;
let node: string;

const { read, write, create, delete: remove, admin, all } = permissions;

function world(allowed: number): Acl {
  return [{ permissions: allowed, identity: { scheme: 'world', id: 'anyone' } }];
}

function digest(credentials: string, allowed: number = all): Acl {
  return [{ permissions: allowed, identity: digestIdentity(credentials) }];
}

beforeEach(async () => {
  client = await setting.connect();
  node = `${setting.root}/node`;
});

describe('permissions', () => {
  it('each allow their own, and only that', async () => {
    const attempts: [number, () => Promise<unknown>][] = [
      [read, async () => (await client.read('getData', node)).error],
      [read, async () => (await client.read('getChildren', node)).error],
      [read, async () => (await client.multi([operations.check(node)])).results[0]?.error],
      [write, async () => (await client.setData(node, 'x')).error],
      [create, async () => (await client.create(`${node}/new`)).error],
      [remove, async () => (await client.delete(`${node}/child`)).error],
      [admin, async () => (await client.setAcl(node, world(admin))).error],
    ];
    for (const [needed, attempt] of attempts) {
      for (const allowed of [needed, all - needed]) {
        await client.create(node);
        await client.create(`${node}/child`);
        await client.setAcl(node, world(allowed));
        expect(await attempt(), `needs ${needed}, has ${allowed}`).toBe(
          allowed === needed ? 'OK' : 'NO_AUTH',
        );
        node += '-';
      }
    }
  });

  it("to delete and create are the parent's to give", async () => {
    await client.create(node, { acl: world(create) });
    await client.create(`${node}/child`, { acl: world(read) });
    expect((await client.delete(`${node}/child`)).error).toBe('NO_AUTH');
    expect((await client.delete(node)).error).toBe('NOT_EMPTY');
  });
});

describe('digest', () => {
  it('lets in who has proven to be that user, on that connection', async () => {
    await client.create(node, { data: 'secret', acl: digest('alice:wonderland') });
    expect((await client.read('getData', node)).error).toBe('NO_AUTH');
    expect((await client.authenticate('digest', 'alice:wrong')).error).toBe('OK');
    expect((await client.read('getData', node)).error).toBe('NO_AUTH');
    expect((await client.authenticate('digest', 'alice:wonderland')).error).toBe('OK');
    expect((await client.read('getData', node)).error).toBe('OK');
    const other = await setting.connect();
    expect((await other.read('getData', node)).error).toBe('NO_AUTH');
    const { sessionId, password } = client;
    await client.disconnect();
    const again = await setting.connect({ sessionId, password });
    expect((await again.read('getData', node)).error).toBe('NO_AUTH');
  });

  it('is what auth stands for', async () => {
    await client.authenticate('digest', 'alice:wonderland');
    await client.authenticate('digest', 'bob:builder');
    await client.create(node, { acl: [{ permissions: all, identity: { scheme: 'auth', id: '' } }] });
    const { acl } = await client.getAcl(node);
    expect(acl).toHaveLength(2);
    expect(acl).toEqual(expect.arrayContaining([...digest('alice:wonderland'), ...digest('bob:builder')]));
  });
});

describe('ACLs', () => {
  const entry = (scheme: string, id: string) => [{ permissions: all, identity: { scheme, id } }];

  it.each([
    ['an empty one', []],
    ['auth of nobody', entry('auth', '')],
    ['world of somebody', entry('world', 'somebody')],
    ['a digest without a user', entry('digest', 'nocolon')],
    ['a digest with too many parts', entry('digest', 'a:b:c')],
    ['an unknown scheme', entry('nonsense', 'x')],
    ['an address that is none', entry('ip', '127.0.0.256')],
    ['an address with too long a prefix', entry('ip', '127.0.0.1/33')],
  ])('are refused: %s', async (_, acl) => {
    expect((await client.create(node, { acl })).error).toBe('INVALID_ACL');
    expect((await client.setAcl(setting.root, acl)).error).toBe('INVALID_ACL');
    expect((await client.read('exists', node)).error).toBe('NO_NODE');
  });

  it('may name addresses, whole networks too', async () => {
    await client.create(node, { acl: entry('ip', '127.0.0.0/8') });
    await client.create(`${node}-no`, { acl: entry('ip', '10.1.2.3') });
    expect((await client.read('getData', `${node}-no`)).error).toBe('NO_AUTH');
  });

  it('have a version of their own', async () => {
    await client.create(node);
    const before = await client.stat(node);
    expect((await client.setAcl(node, openAcl, 1)).error).toBe('BAD_VERSION');
    expect((await client.setAcl(node, openAcl, 0)).error).toBe('OK');
    expect(await client.stat(node)).toEqual({ ...before, aversion: 1 });
    expect((await client.setAcl(`${node}-missing`, openAcl)).error).toBe('NO_NODE');
  });

  it('drop duplicates, and keep their order', async () => {
    const acl = [...world(read), ...digest('alice:wonderland', admin), ...world(read)];
    await client.create(node, { acl });
    await client.authenticate('digest', 'alice:wonderland');
    expect(await client.getAcl(node)).toEqual({ error: 'OK', acl: acl.slice(0, 2) });
  });

  it('hide digests from who may not administer them', async () => {
    const acl = [...world(read), ...digest('alice:wonderland', admin)];
    await client.create(node, { acl });
    expect((await client.getAcl(node)).acl[1]?.identity).toEqual({ scheme: 'digest', id: 'alice:x' });
    await client.authenticate('digest', 'alice:wonderland');
    expect((await client.getAcl(node)).acl).toEqual(acl);
  });

  it('are hidden from who may neither read nor administer', async () => {
    await client.create(node, { acl: world(write) });
    expect((await client.getAcl(node)).error).toBe('NO_AUTH');
    expect((await client.getAcl(`${node}-missing`)).error).toBe('NO_NODE');
  });

  it('bind a multi as well', async () => {
    await client.create(node, { acl: world(read) });
    const { results } = await client.multi([
      operations.create(`${setting.root}/other`),
      operations.setData(node, 'x'),
    ]);
    expect(results.map(({ error }) => error)).toEqual(['OK', 'NO_AUTH']);
    expect((await client.read('exists', `${setting.root}/other`)).error).toBe('NO_NODE');
  });
});

describe('authentication', () => {
  it('by an unknown scheme fails, and ends the connection', async () => {
    expect((await client.authenticate('nonsense', 'x')).error).toBe('AUTH_FAILED');
    await expect(client.ping()).rejects.toThrow();
  });
});
