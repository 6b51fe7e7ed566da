/** What an elector's commit is as one write: all of it is done, or nothing. */
import type { Logger } from 'pino';
import type { Brake } from '../core/brake.js';
import type { Commit } from '../core/group-electing.js';
import { type GroupPaths, pathsOfSlot } from '../core/paths.js';
import type { GroupSnapshot } from '../core/snapshot.js';
import { type HistoryHead, initialHistoryHead, type TransitionRecord } from '../core/znodes.js';
import { isPermissionError, type Operation, type Store } from '../ports/store.js';
import { guarded } from './guarded.js';
import { checkSeat, encode } from './membership.js';

interface Turn {
  readonly store: Store;
  readonly snapshot: GroupSnapshot;
  readonly seat: string;
}

export interface Committed {
  /** How many records the history has now; null where none was added. */
  readonly recorded: number | null;
}

/**
 * Null: what it was decided on no longer holds. A brake whose record this node may not write holds up nothing.
 * Throws StoreError.
 */
export async function writeCommit(
  turn: Turn,
  paths: GroupPaths,
  commit: Commit,
  log: Logger,
): Promise<Committed | null> {
  const { store, seat, snapshot } = turn;
  const operations = commitOperations(paths, seat, commit, snapshot.history);
  try {
    const results = await guarded(() => store.multi(operations));
    if (results === null) return null;
    const head = results[operations.findIndex(({ path }) => path === paths.history)];
    return { recorded: head?.type === 'set' ? head.stat.numChildren + commit.records.length : null };
  } catch (error) {
    const { brake } = commit;
    if (brake === null || !isPermissionError(error) || error.path !== brake.path) throw error;
    log.error({ path: brake.path }, `the brake counts nothing: no permission to write ${brake.path}`);
    return await writeCommit(turn, paths, { ...commit, brake: null }, log);
  }
}

/** `history` as it was read. */
function commitOperations(
  paths: GroupPaths,
  seat: string,
  commit: Commit,
  history: GroupSnapshot['history'],
): Operation[] {
  const { records, headVersion } = commit;
  return [
    checkSeat(paths, seat),
    ...deciding(paths, commit),
    ...(headVersion === null ? [] : recording(paths, records, history, headVersion)),
    ...counting(commit.brake),
  ];
}

function deciding(paths: GroupPaths, { decisions, standing, configVersion }: Commit): Operation[] {
  if (decisions.length === 0) return [];
  const others = standing.map(({ slot, electedVersion: version }): Operation => {
    return { type: 'check', path: pathsOfSlot(paths, slot).elected, version };
  });
  const written = decisions.map(({ slot, elected, electedVersion: version }): Operation => {
    return { type: 'set', path: pathsOfSlot(paths, slot).elected, data: encode(elected), version };
  });
  return [{ type: 'check', path: paths.config, version: configVersion }, ...others, ...written];
}

function recording(
  paths: GroupPaths,
  records: readonly TransitionRecord[],
  history: GroupSnapshot['history'],
  headVersion: number,
): Operation[] {
  const head = records.reduce(withRecord, history?.value ?? initialHistoryHead);
  const mode = 'persistent-sequential';
  return [
    { type: 'set', path: paths.history, data: encode(head), version: headVersion },
    ...records.map((record): Operation => {
      return { type: 'create', path: paths.historyPrefix, data: encode(record), mode };
    }),
  ];
}

/** The head, with what was recorded last of the slot that the record is about. */
function withRecord(head: HistoryHead, { slot = 1, term, fencingToken }: TransitionRecord): HistoryHead {
  if (slot === 1) return { ...head, term, fencingToken };
  return { ...head, slots: { ...head.slots, [slot]: { term, fencingToken } } };
}

function counting(brake: Brake | null): Operation[] {
  if (brake === null) return [];
  const { path, record, version } = brake;
  return [{ type: 'set', path, data: encode(record), version }];
}
