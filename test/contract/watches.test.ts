import { beforeEach, describe, expect, it } from 'vitest';
import { createFlags } from '../../src/embedded/tree.js';
import { contractSetting } from './setting.js';
import { type Event, eventTypes, type WireClient } from './wire-client.js';

const { created, deleted, dataChanged, childrenChanged } = eventTypes;
const setting = contractSetting();
let client: WireClient;
let other: WireClient;
let root: string;
let node: string;

beforeEach(async () => {
  client = await setting.connect();
  other = await setting.connect();
  root = setting.root;
  node = `${root}/node`;
});

/** Returns the notifications that the client received since the last call. */
async function notified(by: WireClient = client): Promise<Event[]> {
  await by.ping();
  return by.events.splice(0);
}

describe('a watch fires once', () => {
  it('left by exists on nothing: when the znode is created', async () => {
    expect((await client.read('exists', node, true)).error).toBe('NO_NODE');
    await other.create(node);
    await other.setData(node, 'x');
    expect(await notified()).toEqual([{ type: created, path: node }]);
  });

  it('left by exists: when data change', async () => {
    await other.create(node);
    await client.read('exists', node, true);
    await other.create(`${node}/child`);
    expect(await notified()).toEqual([]);
    await other.setData(node, 'x');
    await other.setData(node, 'y');
    expect(await notified()).toEqual([{ type: dataChanged, path: node }]);
  });

  it('left by getData: when data change, whatever they were', async () => {
    await other.create(node, { data: 'same' });
    await client.read('getData', node, true);
    await other.setData(node, 'same');
    expect(await notified()).toEqual([{ type: dataChanged, path: node }]);
  });

  it('left by getData: when the znode goes', async () => {
    await other.create(node);
    await client.read('getData', node, true);
    await other.delete(node);
    await other.create(node);
    expect(await notified()).toEqual([{ type: deleted, path: node }]);
  });

  it.each(['getChildren', 'getChildren2'] as const)(
    'left by %s: when a child comes or goes',
    async (opcode) => {
      await other.create(node);
      await client.read(opcode, node, true);
      await other.setData(node, 'x');
      expect(await notified()).toEqual([]);
      await other.create(`${node}/a`);
      await other.create(`${node}/b`);
      expect(await notified()).toEqual([{ type: childrenChanged, path: node }]);
      await client.read(opcode, node, true);
      await other.setData(`${node}/a`, 'x');
      await other.create(`${node}/a/below`);
      expect(await notified()).toEqual([]);
      await other.delete(`${node}/b`);
      expect(await notified()).toEqual([{ type: childrenChanged, path: node }]);
    },
  );

  it('left by getChildren: when the znode itself goes', async () => {
    await other.create(node);
    await client.read('getChildren', node, true);
    await other.delete(node);
    expect(await notified()).toEqual([{ type: deleted, path: node }]);
  });

  it("on the root's children too", async () => {
    await client.read('getChildren', '/', true);
    await other.create(`${root}-sibling`);
    expect(await notified()).toEqual([{ type: childrenChanged, path: '/' }]);
    await other.delete(`${root}-sibling`);
  });
});

describe('watches', () => {
  it('are none after a read that failed, except by exists', async () => {
    await client.read('getData', node, true);
    await client.read('getChildren', node, true);
    await other.create(node);
    expect(await notified()).toEqual([]);
  });

  it('of data and children on one znode report its deletion once', async () => {
    await other.create(node);
    await client.read('getData', node, true);
    await client.read('exists', node, true);
    await client.read('getChildren', node, true);
    await other.delete(node);
    expect(await notified()).toEqual([{ type: deleted, path: node }]);
  });

  it('left twice fire once', async () => {
    await other.create(node);
    await client.read('getData', node, true);
    await client.read('getData', node, true);
    await other.setData(node, 'x');
    await other.setData(node, 'x');
    expect(await notified()).toEqual([{ type: dataChanged, path: node }]);
  });

  it('notify the session that made the change as well, before it has its reply', async () => {
    await client.create(node);
    await client.read('getData', node, true);
    await client.setData(node, 'x');
    expect(client.events).toEqual([{ type: dataChanged, path: node }]);
    expect(client.xids).toEqual([1, 2, -1, 3]);
  });

  it('notify every session that watches', async () => {
    const third = await setting.connect();
    await client.read('exists', node, true);
    await third.read('exists', node, true);
    await other.create(node);
    expect(await notified()).toEqual([{ type: created, path: node }]);
    expect(await notified(third)).toEqual([{ type: created, path: node }]);
    expect(await notified(other)).toEqual([]);
  });

  it('are not stirred by ACLs, checks or failed writes', async () => {
    await other.create(node);
    await client.read('getData', node, true);
    await client.read('getChildren', node, true);
    await other.setData(node, 'x', 5);
    await other.create(node);
    await other.setAcl(node, [{ permissions: 31, identity: { scheme: 'world', id: 'anyone' } }]);
    expect(await notified()).toEqual([]);
  });

  it('report ephemerals that end with their session', async () => {
    await other.create(node, { flags: createFlags.ephemeral });
    await client.read('getData', node, true);
    await client.read('getChildren', root, true);
    await other.closeSession();
    expect(await notified()).toEqual([
      { type: deleted, path: node },
      { type: childrenChanged, path: root },
    ]);
  });

  it('end with the connection', async () => {
    await other.create(node);
    await client.read('getData', node, true);
    const { sessionId, password } = client;
    await client.disconnect();
    const again = await setting.connect({ sessionId, password });
    await other.setData(node, 'x');
    expect(await notified(again)).toEqual([]);
  });
});

describe('setWatches after a reconnection', () => {
  it('sets watches again where nothing happened', async () => {
    await other.create(node);
    await other.create(`${node}/child`);
    const { zxid } = await client.ping();
    await client.setWatches(zxid, { data: [node], exist: [`${root}/absent`], children: [node] });
    expect(await notified()).toEqual([]);
    await other.setData(node, 'x');
    await other.create(`${root}/absent`);
    await other.delete(`${node}/child`);
    expect(await notified()).toEqual([
      { type: dataChanged, path: node },
      { type: created, path: `${root}/absent` },
      { type: childrenChanged, path: node },
    ]);
    await other.setData(node, 'x');
    expect(await notified()).toEqual([]);
  });

  it('reports at once what was missed, and then watches that no more', async () => {
    await other.create(node);
    await other.create(`${root}/gone`);
    const { zxid } = await client.ping();
    await other.setData(node, 'x');
    await other.create(`${node}/child`);
    await other.create(`${root}/appeared`);
    await other.delete(`${root}/gone`);
    await client.setWatches(zxid, {
      data: [node, `${root}/gone`],
      exist: [`${root}/appeared`],
      children: [node, `${root}/gone`],
    });
    expect(client.events.splice(0)).toEqual([
      { type: dataChanged, path: node },
      { type: deleted, path: `${root}/gone` },
      { type: created, path: `${root}/appeared` },
      { type: childrenChanged, path: node },
      { type: deleted, path: `${root}/gone` },
    ]);
    await other.setData(node, 'y');
    await other.create(`${node}/another`);
    expect(await notified()).toEqual([]);
  });

  it('does not see that a znode was deleted and created again, if only its children are watched', async () => {
    await other.create(node);
    const { zxid } = await client.ping();
    await other.delete(node);
    await other.create(node);
    await client.setWatches(zxid, { data: [node], children: [node] });
    expect(client.events).toEqual([
      { type: dataChanged, path: node },
      { type: childrenChanged, path: node },
    ]);
  });
});

describe('persistent watches', () => {
  it('fire again and again', async () => {
    await client.addWatch(node, 'persistent');
    await other.create(node);
    await other.setData(node, 'x');
    await other.setData(node, 'y');
    await other.create(`${node}/child`);
    await other.setData(`${node}/child`, 'x');
    await other.delete(`${node}/child`);
    await other.delete(node);
    expect(await notified()).toEqual([
      { type: created, path: node },
      { type: dataChanged, path: node },
      { type: dataChanged, path: node },
      { type: childrenChanged, path: node },
      { type: childrenChanged, path: node },
      { type: deleted, path: node },
    ]);
  });

  it('watch a whole subtree when recursive, and then nothing of childrenChanged', async () => {
    await client.addWatch(root, 'recursive');
    await other.create(node);
    await other.create(`${node}/child`);
    await other.setData(`${node}/child`, 'x');
    await other.delete(`${node}/child`);
    await other.create(`${root}-sibling`);
    await other.delete(`${root}-sibling`);
    expect(await notified()).toEqual([
      { type: created, path: node },
      { type: created, path: `${node}/child` },
      { type: dataChanged, path: `${node}/child` },
      { type: deleted, path: `${node}/child` },
    ]);
  });

  it('can be set again after a reconnection', async () => {
    const { zxid } = await client.ping();
    await client.setWatches2(zxid, { persistent: [node], recursive: [`${root}/tree`] });
    await other.create(node);
    await other.setData(node, 'x');
    await other.create(`${root}/tree`);
    await other.create(`${root}/tree/leaf`);
    expect(await notified()).toEqual([
      { type: created, path: node },
      { type: dataChanged, path: node },
      { type: created, path: `${root}/tree` },
      { type: created, path: `${root}/tree/leaf` },
    ]);
  });
});

describe('removeWatches', () => {
  it('removes one kind, or any, and says when there was none', async () => {
    await other.create(node);
    await client.read('getData', node, true);
    await client.read('getChildren', node, true);
    expect((await client.removeWatches(node, 'data')).error).toBe('OK');
    expect((await client.removeWatches(node, 'data')).error).toBe('NO_WATCHER');
    await other.setData(node, 'x');
    expect(await notified()).toEqual([]);
    expect((await client.removeWatches(node, 'any')).error).toBe('OK');
    expect((await client.removeWatches(node, 'any')).error).toBe('NO_WATCHER');
    await other.create(`${node}/child`);
    expect(await notified()).toEqual([]);
  });
});
