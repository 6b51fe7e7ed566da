import { expect, it } from 'vitest';
import { WatchedCache } from '../../src/agent/snapshot/watched-cache.js';
import { permissions, toAnyone } from '../../src/model/acl.js';
import type { Store } from '../../src/ports/store.js';
import { connect } from '../support/agent-group.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';

const nothing = Buffer.alloc(0);
const watch = true;

async function connected(): Promise<Store> {
  const store = connect(await sharedZooKeeper());
  await store.connected();
  return store;
}

/**
 * Returns a cache whose server reports no changes, as ZooKeeper does for a client without permission to read.
 */
function uninformed(store: Store): WatchedCache {
  const deaf = new Proxy(store, {
    get: (target, name) => {
      if (name === 'onChange') return () => () => {};
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return new WatchedCache(deaf);
}

it('what may not be read is requested again each time, whether it is there too', async () => {
  const store = await connected();
  const path = uniqueRoot('malformed');
  const reads = uninformed(store);
  await store.create(path, nothing, 'persistent');
  await store.setAcl(path, [toAnyone(permissions.delete)], 'any');
  await expect(reads.getData(path, { watch })).rejects.toMatchObject({ code: 'NO_AUTH' });
  expect(await reads.exists(path, { watch })).not.toBeNull();
  await store.delete(path, 'any');
  await expect(reads.getData(path, { watch })).rejects.toMatchObject({ code: 'NO_NODE' });
  expect(await reads.exists(path, { watch })).toBeNull();
  await store.close();
});

it('what was read under a watch is known until it changes, and after a reconnect it is not', async () => {
  const [store, other] = [await connected(), await connected()];
  const path = uniqueRoot('known');
  const reads = new WatchedCache(store);
  expect(await reads.exists(path, { watch })).toBeNull();
  await other.create(path, Buffer.from('1'), 'persistent');
  // The server answers the sync after it has reported the change.
  await store.sync(path);
  const first = await reads.getData(path, { watch });
  expect(await reads.getData(path, { watch })).toBe(first);
  await other.set(path, Buffer.from('2'), 'any');
  await store.sync(path);
  expect(reads.isStale(path)).toBe(true);
  const second = await reads.getData(path, { watch });
  expect(String(second.data)).toBe('2');
  expect(reads.isStale(path)).toBe(false);
  store.changeServer();
  await store.connected();
  expect(await reads.getData(path, { watch })).not.toBe(second);
  await other.delete(path, 'any');
  await Promise.all([store.close(), other.close()]);
});

it('what changes again and again during a look is read again, and the rest is not', async () => {
  const [store, other] = [await connected(), await connected()];
  const [steady, busy] = [uniqueRoot('steady'), uniqueRoot('busy')];
  await Promise.all([steady, busy].map((path) => other.create(path, nothing, 'persistent')));
  const reads = new WatchedCache(store);
  const known = await reads.getData(steady, { watch });
  let changes = 0;
  const seen = await reads.together(async () => {
    const last = await reads.getData(busy, { watch });
    if (changes < 5) {
      changes += 1;
      await other.set(busy, Buffer.from(`${changes}`), 'any');
      // The server answers the sync after it has reported the change.
      await store.sync(busy);
    }
    return { last: String(last.data), steady: await reads.getData(steady, { watch }) };
  });
  expect(seen.last).toBe('5');
  expect(seen.steady).toBe(known);
  await Promise.all([steady, busy].map((path) => other.delete(path, 'any')));
  await Promise.all([store.close(), other.close()]);
});
