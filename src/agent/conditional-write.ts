import { isStoreError } from '../ports/store.js';

/** Runs `write`. Returns null if its conditions no longer hold. The next round then reads the reason. */
export async function ifStillTrue<T>(write: () => Promise<T>): Promise<T | null> {
  try {
    return await write();
  } catch (error) {
    if (isStoreError(error, 'BAD_VERSION', 'NODE_EXISTS', 'NO_NODE', 'NOT_EMPTY')) return null;
    throw error;
  }
}
