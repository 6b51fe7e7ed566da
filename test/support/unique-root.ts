/** Root paths for tests that share a ZooKeeper. */
import { randomBytes } from 'node:crypto';

/** Returns a root path that no other test uses. Does not create the znode. */
export function uniqueRoot(name = 'test'): string {
  return `/${name}-${randomBytes(6).toString('hex')}`;
}
