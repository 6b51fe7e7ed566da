/**
 * The history under a quota of the ensemble (enforceQuota). It is for people: its oldest records give way to
 * what the group needs, and what cannot be recorded is done without.
 *
 * Not promised: room. Others may use the quota up, or what is no record.
 */

import { errorMessage } from '../errors.js';
import type { Logger } from '../log.js';
import type { GroupPaths } from '../model/paths.js';
import { isStoreError, type Operation, type Store } from '../ports/store.js';
import { recordNames } from './records.js';

/** Enough for the registrations, seats and claims of a few nodes that come back, and for the next records. */
const oldestRecords = 16;

/**
 * What is refused by a quota is done again, once, after the oldest records were deleted. Throws what `write`
 * throws.
 */
export async function withRoom<T>(store: Store, paths: GroupPaths, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isStoreError(error, 'QUOTA_EXCEEDED') || !(await makeRoom(store, paths))) throw error;
    return await write();
  }
}

export interface Written<T> {
  readonly result: T;
  /** What a quota did not allow; null where the record was written. */
  readonly unrecorded: string | null;
}

/**
 * Writes with the record, and where a quota leaves no room for that, without: what a record tells of does not
 * wait for it. A quota looks at what stood before a multi, so that no multi can make room for itself. Throws
 * what `write` throws.
 */
export async function withRecord<T>(
  store: Store,
  paths: GroupPaths,
  record: readonly Operation[],
  write: (record: readonly Operation[]) => Promise<T>,
): Promise<Written<T>> {
  try {
    return { result: await withRoom(store, paths, () => write(record)), unrecorded: null };
  } catch (error) {
    if (!isStoreError(error, 'QUOTA_EXCEEDED')) throw error;
    return { result: await write([]), unrecorded: `quota reached at ${error.path ?? paths.history}` };
  }
}

/** For people, beside what was done. */
export function recordedText(unrecorded: string | null): string {
  return unrecorded === null ? '' : `; not recorded in the history: ${unrecorded}`;
}

/** Keeps the newest records. Losing this race to another, or failing, loses nothing. */
export async function prune(
  store: Store,
  paths: GroupPaths,
  { recorded, keep }: { readonly recorded: number; readonly keep: number },
  log: Logger,
): Promise<void> {
  if (recorded <= keep) return;
  try {
    const surplus = (await recordNames(store, paths)).slice(keep);
    await deleteRecords(store, paths, surplus);
  } catch (error) {
    log.debug({ error }, `old history not pruned: ${errorMessage(error)}`);
  }
}

/** How many of them this call deleted. */
async function deleteRecords(store: Store, paths: GroupPaths, names: readonly string[]): Promise<number> {
  const deletions = names.map((name) => store.delete(paths.historyRecord(name), 'any'));
  return (await Promise.allSettled(deletions)).filter(({ status }) => status === 'fulfilled').length;
}

async function makeRoom(store: Store, paths: GroupPaths): Promise<boolean> {
  const names = await recordNames(store, paths).catch(() => []);
  return (await deleteRecords(store, paths, names.slice(-oldestRecords))) > 0;
}
