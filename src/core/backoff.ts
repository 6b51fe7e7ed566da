/**
 * Backoffs after failed takeovers, and everything that depends on them. Other modules only validate the
 * group's `backoff` settings. `elected` stores the failure records. A record contains the number of the
 * node's failures since the node was last READY, and the end of the node's backoff. The backoff doubles with
 * each failure, up to a maximum.
 *
 * A backoff ends when its time is up, when an operator clears the failure, or when the node is elected again
 * and becomes READY. A restart of the node also ends its backoff, but only once. A backoff that starts in the
 * future also counts as ended, because the ensemble's clock must have been set back.
 */
import { doubledMs, durationMs } from '../model/duration.js';
import type { GroupConfig } from '../model/group-config.js';
import { fromInstant, toInstant } from '../model/names.js';
import { type Claim, type GroupSnapshot, type Member, readyNode } from '../model/snapshot.js';
import { type Elected, type FailureDetail, type FailureRecord, mostFailures } from '../model/znodes.js';
import type { Elsewhere } from './elsewhere.js';
import { isAhead } from './ensemble-clock.js';

export interface Failed {
  readonly node: string;
  readonly incarnation: string;
  readonly reason: string;
}

/** Returns the length of the backoff after a node's `count`-th failure in a row. */
export function backoffMs({ backoff }: GroupConfig, count: number): number {
  return doubledMs(durationMs(backoff.base), durationMs(backoff.max), count);
}

/**
 * Returns the earliest instant at which a node in backoff may be tried if every node is in backoff. The
 * instant is on the ensemble's clock.
 */
export function retryAtMs({ failedAt }: FailureRecord, { backoff }: GroupConfig): number {
  return fromInstant(failedAt) + durationMs(backoff.base);
}

/**
 * Returns the two instants at which a backoff changes the set of possible decisions. From the first instant
 * on, the node may be tried if no other node can lead. At the second instant, the backoff ends.
 */
export function backoffDeadlinesMs(record: FailureRecord, config: GroupConfig): number[] {
  return record.until === null ? [] : [retryAtMs(record, config), fromInstant(record.until)];
}

/**
 * Returns how long a failed node must have been eligible before it replaces a good leader. This time grows
 * with each failure, because the node may well fail again.
 */
export function failbackBackoffMs(record: FailureRecord | null, { backoff }: GroupConfig): number {
  return record === null ? 0 : durationMs(backoff.max) * 2 ** Math.min(record.count - 1, 10);
}

/** Returns how long a lease loss still counts after the leader's new claim. */
export function leaseLossOverMs({ backoff }: GroupConfig): number {
  return durationMs(backoff.base);
}

/**
 * Returns the window within which lease losses are counted together, in milliseconds and as text for
 * messages.
 */
export function leaseLossesWithin({ backoff }: GroupConfig): { readonly ms: number; readonly text: string } {
  return { ms: durationMs(backoff.max), text: backoff.max };
}

/**
 * Whether a failure is still remembered. It is remembered while the failed incarnation is running, and in any
 * case for a fixed time after the failure. After that time, a new incarnation starts with a clean record.
 */
function isRemembered(
  { node, incarnation, failedAt }: FailureRecord,
  members: readonly Member[],
  { backoff }: GroupConfig,
  nowMs: number,
): boolean {
  if (nowMs - fromInstant(failedAt) < 2 * durationMs(backoff.max)) return true;
  return members.some((member) => member.node === node && member.value?.incarnation === incarnation);
}

/**
 * Returns `failures` with `failed` added. The backoff starts at `nowMs`, in milliseconds since the epoch on
 * the ensemble's clock.
 */
export function withFailure(
  failures: readonly FailureRecord[],
  failed: Failed,
  config: GroupConfig,
  nowMs: number,
): FailureRecord[] {
  const before = failureOf(failures, failed.node);
  const count = Math.min((before?.count ?? 0) + 1, Number.MAX_SAFE_INTEGER);
  const record: FailureRecord = {
    ...failed,
    count,
    failedAt: toInstant(nowMs),
    until: toInstant(nowMs + backoffMs(config, count)),
    restarted: before?.restarted ?? false,
  };
  return [...failures.filter(({ node }) => node !== failed.node), record].slice(-mostFailures);
}

/** Formats a failure that the node itself reported, in the form that is stored in the failure record. */
export function failureReason({ phase, reason }: FailureDetail): string {
  return `${phase} failed: ${reason}`;
}

/**
 * Returns the failures of a decision as of `nowMs`. Ends the backoffs whose time is up, and drops the records
 * that no longer matter.
 */
export function settleFailures(
  elected: Pick<Elected, 'node' | 'term' | 'failures'>,
  members: readonly Member[],
  current: Claim | null,
  config: GroupConfig,
  nowMs: number,
): FailureRecord[] {
  const ready = recovered(elected, current, members);
  return elected.failures
    .filter((record) => record.node !== ready && !isCleared(record, config))
    .map((record) => (isInBackoff(record, nowMs) ? record : endBackoff(record)))
    .filter((record) => record.until !== null || isRemembered(record, members, config, nowMs))
    .map((record) => restarted(record, members));
}

export interface FailuresInput {
  readonly elected: Pick<Elected, 'node' | 'term' | 'failures'>;
  readonly members: readonly Member[];
  readonly snapshot: Pick<GroupSnapshot, 'current'>;
  readonly config: GroupConfig;
  readonly elsewhere: Elsewhere;
  readonly epochMs: number;
}

/**
 * Returns the group's current failures: those of the decision, those that other leaderships record, and
 * `failed`, if a decision about it is due. `epochMs` is on the ensemble's clock.
 */
export function currentFailures(
  { elected, members, snapshot, config, elsewhere, epochMs }: FailuresInput,
  failed: Failed | null,
): readonly FailureRecord[] {
  const own = settleFailures(elected, members, snapshot.current, config, epochMs);
  const settled = withFailuresOfOthers(own, elsewhere);
  return failed === null ? settled : withFailure(settled, failed, config, epochMs);
}

/**
 * Merges `own` with the failures of the other leaderships. For each node, only the later failure is kept. If
 * two records describe the same failure, the leadership's own record is kept.
 */
export function withFailuresOfOthers(
  own: readonly FailureRecord[],
  { failures, ready }: Elsewhere,
): readonly FailureRecord[] {
  const all = [...own];
  for (const record of failures) {
    const known = failureOf(all, record.node);
    if (known !== null && fromInstant(known.failedAt) >= fromInstant(record.failedAt)) continue;
    if (known !== null) all.splice(all.indexOf(known), 1);
    all.push(record);
  }
  return all.filter(({ node }) => !ready.has(node));
}

/**
 * Returns the elected node if it is READY under this decision. Its failures are then cleared. Otherwise
 * returns null. A node that became READY under an earlier decision may have failed since then.
 */
export function recovered(
  { node, term }: Pick<Elected, 'node' | 'term'>,
  current: Claim | null,
  members: readonly Member[],
): string | null {
  return current?.value?.term === term && readyNode(current, members) === node ? node : null;
}

/** Returns the record with its backoff ended, so that the node may be tried again. */
export function endBackoff(record: FailureRecord): FailureRecord {
  return { ...record, until: null };
}

function isCleared(record: FailureRecord, config: GroupConfig): boolean {
  if (!Object.hasOwn(config.clearedFailures, record.node)) return false;
  return config.clearedFailures[record.node]?.failedAt === record.failedAt;
}

function restarted(record: FailureRecord, members: readonly Member[]): FailureRecord {
  const incarnation = members.find(({ node }) => node === record.node)?.value?.incarnation;
  if (
    record.until === null ||
    record.restarted ||
    incarnation === undefined ||
    incarnation === record.incarnation
  ) {
    return record;
  }
  return { ...endBackoff(record), incarnation, restarted: true };
}

/** Returns the record of a node. Returns null if there is none, or if `node` is null. */
export function failureOf(failures: readonly FailureRecord[], node: string | null): FailureRecord | null {
  return failures.find((record) => record.node === node) ?? null;
}

/**
 * Whether a failure record makes its node ineligible at `nowMs`. A backoff that has not begun counts as
 * ended, because the ensemble's clock must have been set back. Without this rule, setting the clock back
 * would extend the backoff by the same amount.
 */
export function isInBackoff(record: FailureRecord, nowMs: number): boolean {
  return record.until !== null && fromInstant(record.until) > nowMs && !isAhead(record, nowMs);
}
