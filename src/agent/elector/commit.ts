/** Writes an elector's commit as one multi, so either all or none of it is written. */
import type { Logger } from 'pino';
import type { PublishSuccessor } from '../../core/decision.js';
import { recordText } from '../../core/records.js';
import { type GroupPaths, pathsOfSlot } from '../../model/paths.js';
import { slotView } from '../../model/slots.js';
import type { CircuitBreaker, GroupSnapshot, Member } from '../../model/snapshot.js';
import { type HistoryHead, initialHistoryHead, type TransitionRecord } from '../../model/znodes.js';
import {
  isPermissionError,
  isStoreError,
  type Operation,
  type Stat,
  type StoreError,
} from '../../ports/store.js';
import type { Commit, Decision } from '../../slots/group-round.js';
import { withRoom } from '../../tree/history-room.js';
import { ifStillTrue } from '../conditional-write.js';
import { type ClaimWithDecision, claiming } from '../leadership/claim-writes.js';
import { checkSeat, encode, notifyingAt } from '../membership.js';
import { unrecorded } from './record-pause.js';
import type { ElectorTurn, Unwritten } from './turn.js';

export interface Committed {
  /** Number of records that the history contains now. Null if no record was added. */
  readonly recorded: number | null;
  /** Whether a quota left no room for the commit's records. */
  readonly isUnrecorded: boolean;
  /** Whether a quota or an ACL refused the successor that the commit publishes. Missing if neither did. */
  readonly isUnpublished?: boolean;
  /**
   * The result of the write to `elected`, if this node's claim was part of the same write. Missing otherwise.
   */
  readonly claimed?: Stat;
}

/**
 * Writes the commit, together with this node's claim if there is one. Returns null if the commit's conditions
 * no longer hold. An ACL may refuse the claim, the circuit breaker's record, a write to a seat, or the
 * successor. A quota may refuse the claim, the records, the circuit breaker's record, or the successor. The
 * rest is then written without the refused part. Throws StoreError.
 */
export async function writeCommit(
  turn: ElectorTurn,
  paths: GroupPaths,
  commit: Commit,
  log: Logger,
  claim: ClaimWithDecision | null = null,
): Promise<Committed | null> {
  const { store } = turn;
  const operations = commitOperations(turn, paths, commit, claim);
  // If the commit contained nothing but a refused successor, only the check of the seat is left.
  if (operations.length === 1) return { recorded: null, isUnrecorded: false };
  try {
    const write = () => store.multi(operations);
    const results = await ifStillTrue(claim === null ? () => withRoom(store, paths, write) : write);
    if (results === null) return null;
    const statOf = (written: string) => {
      const result = results[operations.findIndex(({ type, path }) => type === 'set' && path === written)];
      return result?.type === 'set' ? result.stat : null;
    };
    const head = statOf(paths.history);
    const elected = statOf(paths.elected);
    return {
      recorded: head === null ? null : head.numChildren + commit.records.length,
      isUnrecorded: false,
      ...(claim === null || elected === null ? {} : { claimed: elected }),
    };
  } catch (error) {
    // The node then claims later, in a separate write.
    if (claim !== null && (isPermissionError(error) || isStoreError(error, 'QUOTA_EXCEEDED')))
      return await writeCommit(turn, paths, commit, log);
    if (isRefusedSuccessor(error, paths, commit)) {
      log.error({ path: error.path }, `cannot publish the successor: ${error.message}`);
      const written = await writeCommit(turn, paths, unpublished(commit), log);
      return written === null ? null : { ...written, isUnpublished: true };
    }
    if (isStoreError(error, 'QUOTA_EXCEEDED')) return await writeLess(turn, paths, commit, log, error);
    if (!isPermissionError(error)) throw error;
    const { path } = error;
    const { circuitBreaker } = commit;
    if (circuitBreaker !== null && path === circuitBreaker.path) {
      log.error({ path }, `the circuit breaker cannot count failovers: no permission to write ${path}`);
      return await writeCommit(turn, paths, { ...commit, circuitBreaker: null }, log);
    }
    const members = turn.members.map((member) => withoutSeat(member, paths, path));
    if (members.every((member, index) => member === turn.members[index])) throw error;
    log.error({ path }, `cannot notify the elected node: no permission to write ${path}`);
    return await writeCommit({ ...turn, members }, paths, commit, log);
  }
}

export function unpublished({ successor: _, ...commit }: Commit): Commit {
  return commit;
}

/** Whether a quota or an ACL refused either the successor or its notification. */
function isRefusedSuccessor(error: unknown, paths: GroupPaths, { successor }: Commit): error is StoreError {
  if (successor === undefined) return false;
  if (isStoreError(error, 'QUOTA_EXCEEDED')) return true;
  const written = [paths.successor, ...seatsOfSuccessor(successor).map((seat) => paths.seat(seat))];
  return isPermissionError(error) && error.path !== undefined && written.includes(error.path);
}

function seatsOfSuccessor({ successor: { prepared } }: PublishSuccessor): readonly string[] {
  return prepared?.seats ?? [];
}

/**
 * Writes less after a quota has refused a commit. Omits the records first, because only operators need them,
 * and then the circuit breaker's count.
 */
async function writeLess(
  turn: ElectorTurn,
  paths: GroupPaths,
  commit: Commit,
  log: Logger,
  refused: StoreError,
): Promise<Committed | null> {
  const { records, decisions, circuitBreaker, headVersion } = commit;
  const { path = paths.history } = refused;
  if (headVersion !== null) {
    const rest = unrecorded(commit);
    if (decisions.length > 0 && (await writeCommit(turn, paths, rest, log)) === null) return null;
    const what = records.map(recordText).join('; ');
    log.error(
      { path, records },
      `quota reached at ${path}: raise the quota of this group; not recorded in the history: ${what}`,
    );
    return { recorded: null, isUnrecorded: true };
  }
  if (circuitBreaker === null) throw refused;
  log.error({ path }, `the circuit breaker cannot count failovers: quota reached at ${path}`);
  return await writeCommit(turn, paths, { ...commit, circuitBreaker: null }, log);
}

function withoutSeat(member: Member, paths: GroupPaths, path: string | undefined): Member {
  const { seatNames = [] } = member;
  const others = seatNames.filter((seat) => paths.seat(seat) !== path);
  return others.length === seatNames.length ? member : { ...member, seatNames: others };
}

function commitOperations(
  turn: ElectorTurn,
  paths: GroupPaths,
  commit: Commit,
  claim: ClaimWithDecision | null,
): Operation[] {
  const { records, headVersion } = commit;
  const { history } = turn.snapshot;
  return [
    checkSeat(paths, turn.seat),
    ...deciding(turn, paths, commit, claim),
    ...(headVersion === null ? [] : recording(paths, records, history, headVersion)),
    ...counting(commit.circuitBreaker),
    ...publishing(paths, commit.successor),
  ];
}

function deciding(
  turn: ElectorTurn,
  paths: GroupPaths,
  { decisions, unchanged: standing, configVersion }: Commit,
  claim: ClaimWithDecision | null,
): Operation[] {
  if (decisions.length === 0) return [];
  const others = standing.map(({ slot, electedVersion: version }): Operation => {
    return { type: 'check', path: pathsOfSlot(paths, slot).elected, version };
  });
  const written = decisions.map(({ slot, elected, electedVersion: version }): Operation => {
    return { type: 'set', path: pathsOfSlot(paths, slot).elected, data: encode(elected), version };
  });
  const also = decisions.flatMap((decision) => notifying(turn, paths, decision));
  if (claim !== null) also.push(...claiming({ paths, registration: claim.registration }, claim.content));
  else if (turn.unwritten !== null) also.push(registering(paths, turn.unwritten));
  return [{ type: 'check', path: paths.config, version: configVersion }, ...others, ...written, ...also];
}

/**
 * Whether every newly elected node has a seat at which it can be notified. A node that has just registered
 * may have read the previous decision. If the elector does not know a seat of that node, it cannot notify the
 * node of the new decision. The node would then not read the new decision for a long time.
 */
export function canNotify(turn: ElectorTurn, { decisions }: Commit): boolean {
  return decisions.every((decision) => !isNewlyNamed(turn, decision) || seatsOf(turn, decision).length > 0);
}

/**
 * Whether the tree has just been recreated, and a node that is elected in it has not yet registered again.
 */
export function precedesLeader(
  { snapshot, members }: Pick<ElectorTurn, 'snapshot' | 'members'>,
  { decisions }: Pick<Commit, 'decisions'>,
): boolean {
  return decisions.some(({ slot }) => {
    const { value, version } = slotView(snapshot, slot).elected;
    const node = value?.node ?? null;
    return version === 0 && node !== null && !members.some((member) => member.node === node);
  });
}

function isNewlyNamed({ snapshot }: ElectorTurn, { slot, elected }: Decision): boolean {
  return elected.node !== null && elected.node !== slotView(snapshot, slot).elected.value?.node;
}

function seatsOf({ members }: ElectorTurn, { elected }: Decision): readonly string[] {
  return members.find(({ node }) => node === elected.node)?.seatNames ?? [];
}

/**
 * Returns the operations that notify a newly elected node: a write to its election znode, which only that
 * node watches. If the znode is gone, the multi fails, and the decision is not made.
 */
function notifying(turn: ElectorTurn, paths: GroupPaths, decision: Decision): Operation[] {
  const { node } = decision.elected;
  if (node === null || !isNewlyNamed(turn, decision)) return [];
  return notifyingAt(paths, seatsOf(turn, decision), node);
}

function registering(paths: GroupPaths, { registration, data, version }: Unwritten): Operation {
  return { type: 'set', path: paths.node(registration.node), data, version };
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

/** Returns the history's head with the record's term and token stored for the record's slot. */
function withRecord(head: HistoryHead, { slot = 1, term, fencingToken }: TransitionRecord): HistoryHead {
  if (slot === 1) return { ...head, term, fencingToken };
  return { ...head, slots: { ...head.slots, [slot]: { term, fencingToken } } };
}

/**
 * Returns the operations that publish the successor. They fail if anything that the successor is based on has
 * changed.
 */
function publishing(paths: GroupPaths, publish: Commit['successor']): Operation[] {
  if (publish === undefined) return [];
  const { successor, version, electedVersion, configVersion } = publish;
  const path = paths.successor;
  const data = encode(successor);
  return [
    { type: 'check', path: paths.config, version: configVersion },
    { type: 'check', path: paths.elected, version: electedVersion },
    version === null
      ? { type: 'create', path, data, mode: 'persistent' }
      : { type: 'set', path, data, version },
    // The successor reads the decision now, so that it can claim as soon as it is notified again.
    ...notifyingAt(paths, seatsOfSuccessor(publish), successor.prepared?.decision.node ?? ''),
  ];
}

function counting(circuitBreaker: CircuitBreaker | null): Operation[] {
  if (circuitBreaker === null) return [];
  const { path, record, version } = circuitBreaker;
  return [{ type: 'set', path, data: encode(record), version }];
}
