/**
 * Keeps the history within a quota that the ensemble enforces (enforceQuota). The history is only for
 * operators. When the group needs space, its oldest records are deleted. A record that still does not fit is
 * omitted.
 *
 * Not promised: that there is enough space for the group. Other clients, or znodes that are not records, may
 * use up the quota.
 */

import { errorMessage } from '../errors.js';
import type { Logger } from '../log.js';
import type { GroupPaths } from '../model/paths.js';
import { isStoreError, type Operation, type Store } from '../ports/store.js';
import { recordNames } from './records.js';

/**
 * Number of records that are deleted together, oldest first. This frees enough space for the registrations,
 * election znodes and claims of a few returning nodes, and for the next records.
 */
const oldestRecords = 16;

/**
 * Runs `write`. If a quota prevents the write, deletes the oldest records and runs `write` once more. Throws
 * whatever `write` throws.
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
  /** The quota that prevented the record from being written. Null if the record was written. */
  readonly unrecorded: string | null;
}

/**
 * Runs `write` with the record. If a quota leaves no space for the record, runs `write` without it, because
 * an action must not wait for its record. Quotas are checked against the state before a multi, so a multi
 * cannot free the space that it needs. Throws whatever `write` throws.
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

/** Returns text for operators, to be appended to the description of an action. */
export function recordedText(unrecorded: string | null): string {
  return unrecorded === null ? '' : `; not recorded in the history: ${unrecorded}`;
}

/** Deletes all but the newest records. A failure or a race with another client has no consequences. */
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

/** Deletes the records and returns how many of them this call deleted. */
async function deleteRecords(store: Store, paths: GroupPaths, names: readonly string[]): Promise<number> {
  const deletions = names.map((name) => store.delete(paths.historyRecord(name), 'any'));
  return (await Promise.allSettled(deletions)).filter(({ status }) => status === 'fulfilled').length;
}

async function makeRoom(store: Store, paths: GroupPaths): Promise<boolean> {
  const names = await recordNames(store, paths).catch(() => []);
  return (await deleteRecords(store, paths, names.slice(-oldestRecords))) > 0;
}
