/** Reads the records of a group's history from the tree. */
import { type Parsed, parseJson } from '../model/names.js';
import type { GroupPaths } from '../model/paths.js';
import { compareSequences } from '../model/sequence.js';
import { slotOf } from '../model/slots.js';
import { type HistoryRecord, historyRecordSchema, type TransitionRecord } from '../model/znodes.js';
import { isStoreError, type Store } from '../ports/store.js';

/** Maximum number of records in a history. */
export const mostRecords = 10_000;

export type StoredRecord = Parsed<HistoryRecord> & { readonly name: string };

const sequencePattern = /^(-?\d{9,10})$/;

/**
 * Returns up to `limit` records, newest first. Returns an empty list if there is no history. Throws
 * StoreError.
 */
export async function newestRecords(store: Store, paths: GroupPaths, limit: number): Promise<StoredRecord[]> {
  const names = (await recordNames(store, paths)).slice(0, limit);
  const records = await Promise.all(names.map((name) => readRecord(store, paths, name)));
  return records.filter((record) => record !== null);
}

/**
 * Returns the record of the newest attempt in `term`. Returns null if the record has not been written yet or
 * has been deleted. Throws StoreError.
 */
export async function recordOfTerm(
  store: Store,
  paths: GroupPaths,
  term: number,
  slot = 1,
): Promise<TransitionRecord | null> {
  const names = await recordNames(store, paths);
  for (let from = 0; from < names.length; from += batchSize) {
    const batch = names.slice(from, from + batchSize).map((name) => readRecord(store, paths, name));
    for (const record of await Promise.all(batch)) {
      if (record?.value?.kind !== 'transition' || slotOf(record.value) !== slot) continue;
      if (record.value.term === term) return record.value;
      if (record.value.term < term) return null;
    }
  }
  return null;
}

const batchSize = 32;

/** Returns the names of the records, newest first. Throws StoreError. */
export async function recordNames(store: Store, paths: GroupPaths): Promise<string[]> {
  try {
    const { children } = await store.getChildren(paths.history);
    return children
      .filter((name) => sequencePattern.test(name))
      .toSorted((a, b) => compareSequences(Number(b), Number(a)));
  } catch (error) {
    if (isStoreError(error, 'NO_NODE')) return [];
    throw error;
  }
}

/** Returns a record. Returns null if it has been deleted in the meantime. */
async function readRecord(store: Store, paths: GroupPaths, name: string): Promise<StoredRecord | null> {
  try {
    const { data } = await store.getData(paths.historyRecord(name));
    return { name, ...parseJson(historyRecordSchema, data.toString('utf8')) };
  } catch (error) {
    if (isStoreError(error, 'NO_NODE')) return null;
    throw error;
  }
}
