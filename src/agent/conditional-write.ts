import { isStoreError } from '../ports/store.js';

/** Returns null if the conditions of the write no longer hold. The next round reads why. */
export async function ifStillTrue<T>(write: () => Promise<T>): Promise<T | null> {
  try {
    return await write();
  } catch (error) {
    if (isStoreError(error, 'BAD_VERSION', 'NODE_EXISTS', 'NO_NODE', 'NOT_EMPTY')) return null;
    throw error;
  }
}
