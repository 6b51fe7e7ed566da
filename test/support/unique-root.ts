/** Where tests work that share a ZooKeeper. */
import { randomBytes } from 'node:crypto';

/** A root path that no other test uses. Nothing is created. */
export function uniqueRoot(name = 'test'): string {
  return `/${name}-${randomBytes(6).toString('hex')}`;
}
