/**
 * The history under a quota of the ensemble (enforceQuota). The history is for operators: its oldest records
 * are deleted when the group needs room, and a record that does not fit is omitted.
 *
 * Not promised: room. Other clients, or znodes that are not records, may use up the quota.
 */

import { errorMessage } from '../errors.js';
import type { Logger } from '../log.js';
import type { GroupPaths } from '../model/paths.js';
import { isStoreError, type Operation, type Store } from '../ports/store.js';
import { recordNames } from './records.js';

/**
 * Enough for the registrations, election znodes and claims of a few returning nodes, and for the next
 * records.
 */
const oldestRecords = 16;

/**
 * Repeats a write that a quota refused, once, after deleting the oldest records. Throws whatever `write`
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
  /** Why the record was not written: the quota that was reached. Null if it was written. */
  readonly unrecorded: string | null;
}

/**
 * Writes together with the record, or without it if a quota leaves no room: an action does not wait for its
 * record. Quotas are checked against the state before a multi, so a multi cannot make room for itself. Throws
 * whatever `write` throws.
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

/** Returns text for operators, to append to what was done. */
export function recordedText(unrecorded: string | null): string {
  return unrecorded === null ? '' : `; not recorded in the history: ${unrecorded}`;
}

/** Deletes all but the newest records. Losing a race or failing has no consequences. */
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

/** Returns the number of records that this call deleted. */
async function deleteRecords(store: Store, paths: GroupPaths, names: readonly string[]): Promise<number> {
  const deletions = names.map((name) => store.delete(paths.historyRecord(name), 'any'));
  return (await Promise.allSettled(deletions)).filter(({ status }) => status === 'fulfilled').length;
}

async function makeRoom(store: Store, paths: GroupPaths): Promise<boolean> {
  const names = await recordNames(store, paths).catch(() => []);
  return (await deleteRecords(store, paths, names.slice(-oldestRecords))) > 0;
}
