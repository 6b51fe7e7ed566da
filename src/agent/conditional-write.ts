import { isStoreError } from '../ports/store.js';

/**
 * Runs `write`. Returns null if its conditions no longer hold. In that case, the next round reads what has
 * changed.
 */
export async function ifStillTrue<T>(write: () => Promise<T>): Promise<T | null> {
  try {
    return await write();
  } catch (error) {
    if (isStoreError(error, 'BAD_VERSION', 'NODE_EXISTS', 'NO_NODE', 'NOT_EMPTY')) return null;
    throw error;
  }
}
