/** Reads the record of the group's circuit breaker. Several groups may share one record. */
import { circuitBreakerPath, emptyCircuitBreakerRecord } from '../core/circuit-breaker.js';
import { PetrelError } from '../errors.js';
import type { GroupConfig } from '../model/group-config.js';
import { parseJson } from '../model/names.js';
import type { GroupPaths } from '../model/paths.js';
import type { CircuitBreaker } from '../model/snapshot.js';
import { circuitBreakerRecordSchema } from '../model/znodes.js';
import { isStoreError, type Store } from '../ports/store.js';
import { ensurePath } from './ensure-tree.js';

/**
 * Returns the circuit breaker's record. Returns null if there is no circuit breaker. Also returns null if
 * permissions or a quota prevent reading or creating the record, because an unavailable record must not block
 * the group. A malformed record is treated as empty. Throws StoreError.
 */
export async function readCircuitBreaker(
  store: Store,
  config: GroupConfig | null,
  { root }: GroupPaths,
): Promise<CircuitBreaker | null> {
  const path = config === null ? null : circuitBreakerPath(config, root);
  if (path === null) return null;
  for (;;) {
    try {
      const { data, stat } = await store.getData(path);
      const { value } = parseJson(circuitBreakerRecordSchema, data.toString('utf8'));
      return { path, root, record: value ?? emptyCircuitBreakerRecord, version: stat.version };
    } catch (error) {
      if (isStoreError(error, 'NO_AUTH')) return null;
      if (!isStoreError(error, 'NO_NODE')) throw error;
    }
    try {
      await ensurePath(store, path);
    } catch (error) {
      if (error instanceof PetrelError || isStoreError(error, 'QUOTA_EXCEEDED')) return null;
      throw error;
    }
  }
}
