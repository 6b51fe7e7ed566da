/** Quotas of ZooKeeper, which a server enforces with `enforceQuota=true`. */
import { isStoreError, type Store } from '../../src/ports/store.js';

const unlimited = 1_000_000;

/** Sets a quota that allows exactly the znodes that exist under a root. */
export async function noMoreRoom(store: Store, root: string): Promise<void> {
  const names = root.split('/').slice(1);
  for (const [at] of names.entries()) {
    await ensure(store, `/zookeeper/quota/${names.slice(0, at + 1).join('/')}`, '');
  }
  const quota = quotaOf(root);
  await ensure(store, `${quota}/zookeeper_limits`, limits(unlimited));
  await ensure(store, `${quota}/zookeeper_stats`, 'count=0,bytes=0');
  const { data } = await store.getData(`${quota}/zookeeper_stats`);
  const count = Number(/count=(\d+)/.exec(data.toString('utf8'))?.[1]);
  if (!(count > 5)) throw new Error(`the quota of ${root} counts ${count} znodes`);
  await store.set(`${quota}/zookeeper_limits`, Buffer.from(limits(count)), 'any');
}

/** Lets the root have any number of znodes again. */
export async function liftQuota(store: Store, root: string): Promise<void> {
  for (const name of ['zookeeper_limits', 'zookeeper_stats']) {
    await store.delete(`${quotaOf(root)}/${name}`, 'any').catch((error: unknown) => {
      if (!isStoreError(error, 'NO_NODE')) throw error;
    });
  }
}

async function ensure(store: Store, path: string, text: string): Promise<void> {
  await store.create(path, Buffer.from(text), 'persistent').catch((error: unknown) => {
    if (!isStoreError(error, 'NODE_EXISTS')) throw error;
  });
}

function quotaOf(root: string): string {
  return `/zookeeper/quota${root}`;
}

function limits(count: number): string {
  return `count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=${count}`;
}
