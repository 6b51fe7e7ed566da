/** The ensemble's clock, as one who only looks in can know it. */
import type { ClockReading } from '../core/limits.js';
import type { GroupPaths } from '../core/paths.js';
import type { Clock } from '../ports/clock.js';
import { isStoreError, type Store } from '../ports/store.js';
import type { GroupView } from './view.js';

/** Reads the ensemble's clock by a write; nobody is woken by it. The group must exist. Throws StoreError. */
export async function readEnsembleClock(
  store: Store,
  paths: GroupPaths,
  clock: Clock,
): Promise<ClockReading> {
  for (;;) {
    try {
      const { mtimeMs } = await store.set(paths.clock, Buffer.alloc(0), 'any');
      return { epochMs: mtimeMs, atMs: clock.monotonicMs() };
    } catch (error) {
      if (!isStoreError(error, 'NO_NODE')) throw error;
    }
    try {
      await store.create(paths.clock, Buffer.alloc(0), 'persistent');
    } catch (error) {
      if (!isStoreError(error, 'NODE_EXISTS')) throw error;
    }
  }
}

/** As `readEnsembleClock`; for one who may not write, the newest change that `view` saw, which is no later. */
export async function readOrEstimateClock(
  store: Store,
  view: GroupView,
  clock: Clock,
): Promise<ClockReading> {
  try {
    return await readEnsembleClock(store, view.paths, clock);
  } catch (error) {
    if (!isStoreError(error, 'NO_AUTH')) throw error;
    return { epochMs: view.newestChangeMs, atMs: clock.monotonicMs() };
  }
}
