/**
 * Writes the configuration by compare-and-set. Adds a record to the history in the same multi, unless a quota
 * prevents this.
 */
import type { Rules } from '../../strategies/registry.js';
import { PetrelError } from '../errors.js';
import type { GroupPaths } from '../model/paths.js';
import { type ChangeRecord, initialHistoryHead } from '../model/znodes.js';
import type { Clock } from '../ports/clock.js';
import { isStoreError, type Operation, type Store, type StoreError } from '../ports/store.js';
import { withRecord } from '../tree/history-room.js';
import { newestRecords } from '../tree/records.js';

export interface GroupAccess {
  readonly store: Store;
  readonly paths: GroupPaths;
  /** The rules that are available in this process. */
  readonly rules: Rules;
  readonly clock: Clock;
}

export interface ConfigWrite {
  readonly text: string;
  /** Version of `config` before the write. */
  readonly version: number;
  readonly record: ChangeRecord;
}

/**
 * Result of a write. `conflict` means that nothing was written and that the write can be retried. `unknown`
 * means that the reply was lost but that the session still exists.
 */
export type WriteResult =
  | { readonly state: 'written'; readonly unrecorded: string | null }
  | { readonly state: 'conflict' }
  | LostReply;

export interface LostReply {
  readonly state: 'unknown';
  readonly isRecorded: boolean;
  readonly error: StoreError;
}

/**
 * Writes the configuration. Throws PetrelError INVALID if the configuration is larger than a znode can be.
 * Throws StoreError. If the error's `outcomeUnknown` is true, there is no way to find out whether the write
 * took place.
 */
export async function writeConfig({ store, paths }: GroupAccess, write: ConfigWrite): Promise<WriteResult> {
  const data = Buffer.from(write.text);
  let isRecorded = true;
  try {
    const record = [recordOperation(paths, write.record)];
    const { unrecorded } = await withRecord(store, paths, record, (also) => {
      isRecorded = also.length > 0;
      return store.multi([{ type: 'set', path: paths.config, data, version: write.version }, ...also]);
    });
    return { state: 'written', unrecorded };
  } catch (error) {
    if (isStoreError(error, 'BAD_VERSION')) return { state: 'conflict' };
    if (isStoreError(error, 'NO_NODE')) {
      await ensureHistory(store, paths);
      return { state: 'conflict' };
    }
    if (isStoreError(error, 'BAD_ARGUMENTS')) throw tooLarge(paths.config, data.length, error);
    if (!isStoreError(error) || !error.outcomeUnknown) throw error;
    await inTouchAgain(store, error);
    return { state: 'unknown', isRecorded, error };
  }
}

function tooLarge(path: string, bytes: number, cause: Error): PetrelError {
  const message = `nothing was changed: the configuration has ${bytes} bytes, more than ${path} can hold (${cause.message})`;
  return new PetrelError('INVALID', message, { cause });
}

/**
 * Called after the reply to a write was lost. Determines whether the write took place. If `config` is at the
 * next version, its content decides. If others have written since, the record in the history decides. If no
 * record was written, the answer is unknown, and this function throws the StoreError of the lost reply.
 */
export async function wasWritten(
  { store, paths }: GroupAccess,
  { record, text, version }: ConfigWrite,
  { isRecorded, error }: LostReply,
): Promise<boolean> {
  const { data, stat } = await store.getData(paths.config);
  if (stat.version === version) return false;
  if (stat.version === version + 1) return data.toString('utf8') === text;
  if (!isRecorded) throw error;
  const newest = await newestRecords(store, paths, searched);
  return newest.some(({ value }) => {
    return (
      value?.kind === 'change' &&
      value.at === record.at &&
      value.by === record.by &&
      value.what === record.what
    );
  });
}

const searched = 50;

export function recordOperation(paths: GroupPaths, record: ChangeRecord): Operation {
  const data = Buffer.from(JSON.stringify(record));
  return { type: 'create', path: paths.historyPrefix, data, mode: 'persistent-sequential' };
}

/**
 * Waits until the session is connected again. Throws `lost` if the session ends, because only that session
 * can find out whether the write took place.
 */
async function inTouchAgain(store: Store, lost: Error): Promise<void> {
  try {
    await store.connected({ timeoutMs: Math.max(store.negotiatedTimeoutMs, 1000) });
    await store.sync('/');
  } catch {
    throw lost;
  }
}

async function ensureHistory(store: Store, { history }: GroupPaths): Promise<void> {
  try {
    await store.create(history, Buffer.from(JSON.stringify(initialHistoryHead)), 'persistent');
  } catch (error) {
    if (!isStoreError(error, 'NODE_EXISTS')) throw error;
  }
}
