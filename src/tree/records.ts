/** The records of a group's history, as they stand in the tree. */
import { type Parsed, parseJson } from '../model/names.js';
import type { GroupPaths } from '../model/paths.js';
import { compareSequences } from '../model/sequence.js';
import { slotOf } from '../model/slots.js';
import { type HistoryRecord, historyRecordSchema, type TransitionRecord } from '../model/znodes.js';
import { isStoreError, type Store } from '../ports/store.js';

/** As many as a history ever holds. */
export const mostRecords = 10_000;

export type StoredRecord = Parsed<HistoryRecord> & { readonly name: string };

const sequencePattern = /^(-?\d{9,10})$/;

/** Up to `limit` records, the newest first; empty when there is no history. Throws StoreError. */
export async function newestRecords(store: Store, paths: GroupPaths, limit: number): Promise<StoredRecord[]> {
  const names = (await recordNames(store, paths)).slice(0, limit);
  const records = await Promise.all(names.map((name) => readRecord(store, paths, name)));
  return records.filter((record) => record !== null);
}

/** The record of the newest try of `term`; null when there is none (yet, or any more). Throws StoreError. */
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

/** The newest first. Throws StoreError. */
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

/** Null when it was trimmed away meanwhile. */
async function readRecord(store: Store, paths: GroupPaths, name: string): Promise<StoredRecord | null> {
  try {
    const { data } = await store.getData(paths.historyRecord(name));
    return { name, ...parseJson(historyRecordSchema, data.toString('utf8')) };
  } catch (error) {
    if (isStoreError(error, 'NO_NODE')) return null;
    throw error;
  }
}
