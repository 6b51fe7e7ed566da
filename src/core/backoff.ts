/**
 * How long a node stays out after a failed takeover, and whatever hangs on that: the one place that reads the
 * group's `backoff`. The memory of failures is kept in `elected`: how often a node failed since it was last
 * READY, and until when it is in backoff for it. Backoffs double with each failure, up to a cap.
 *
 * A backoff ends when its time is over, when a person clears the node’s failure, once when the node starts
 * anew, or when the node, elected again, becomes READY. One that has not even begun is over as well: the
 * ensemble's clock was set back.
 */
import { doubledMs, durationMs } from '../model/duration.js';
import type { GroupConfig } from '../model/group-config.js';
import { fromInstant, toInstant } from '../model/names.js';
import { type Claim, type Member, readyNode } from '../model/snapshot.js';
import { type Elected, type FailureDetail, type FailureRecord, mostFailures } from '../model/znodes.js';
import { isAhead } from './ensemble-clock.js';

export interface Failed {
  readonly node: string;
  readonly incarnation: string;
  readonly reason: string;
}

/** How long a node is in backoff for its `count`-th failure in a row. */
export function backoffMs({ backoff }: GroupConfig, count: number): number {
  return doubledMs(durationMs(backoff.base), durationMs(backoff.max), count);
}

/** When an excluded node may be tried because everyone is in backoff, on the ensemble's clock. */
export function retryAtMs({ failedAt }: FailureRecord, { backoff }: GroupConfig): number {
  return fromInstant(failedAt) + durationMs(backoff.base);
}

/**
 * Instants at which a backoff changes what may be decided: the node may be tried where nobody else can, or in
 * any case.
 */
export function backoffDeadlinesMs(record: FailureRecord, config: GroupConfig): number[] {
  return record.until === null ? [] : [retryAtMs(record, config), fromInstant(record.until)];
}

/**
 * How long a node that failed must have been eligible before a good leader is left for it: it may well fail
 * again, so ever longer.
 */
export function failbackBackoffMs(record: FailureRecord | null, { backoff }: GroupConfig): number {
  return record === null ? 0 : durationMs(backoff.max) * 2 ** Math.min(record.count - 1, 10);
}

/** A leader that lost its lease has got over it after so long. */
export function leaseLossOverMs({ backoff }: GroupConfig): number {
  return durationMs(backoff.base);
}

/** Lease losses count together within so long; as text, for people, too. */
export function leaseLossesWithin({ backoff }: GroupConfig): { readonly ms: number; readonly text: string } {
  return { ms: durationMs(backoff.max), text: backoff.max };
}

/** As long as the life lasts that failed, and then for a time: a new one starts with a clean sheet. */
function isRemembered(
  { node, incarnation, failedAt }: FailureRecord,
  members: readonly Member[],
  { backoff }: GroupConfig,
  nowMs: number,
): boolean {
  if (nowMs - fromInstant(failedAt) < 2 * durationMs(backoff.max)) return true;
  return members.some((member) => member.node === node && member.value?.incarnation === incarnation);
}

/** `failures` with one more: `failed` is in backoff from `nowMs` on (epoch, the ensemble's clock). */
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

/** A failure, as its record words what the node itself says of it. */
export function failureReason({ phase, reason }: FailureDetail): string {
  return `${phase} failed: ${reason}`;
}

/**
 * The failures of a decision as they stand at `nowMs`: what has ended is ended, what no longer matters is
 * forgotten.
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
    .map((record) => (isOver(record, nowMs) ? endBackoff(record) : record))
    .filter((record) => record.until !== null || isRemembered(record, members, config, nowMs))
    .map((record) => restarted(record, members));
}

/**
 * The elected node once it is READY by that decision: its failures are over. One that is READY by an earlier
 * one may have failed since.
 */
export function recovered(
  { node, term }: Pick<Elected, 'node' | 'term'>,
  current: Claim | null,
  members: readonly Member[],
): string | null {
  return current?.value?.term === term && readyNode(current, members) === node ? node : null;
}

/** A record whose node may be tried again. */
export function endBackoff(record: FailureRecord): FailureRecord {
  return { ...record, until: null };
}

function isCleared(record: FailureRecord, config: GroupConfig): boolean {
  if (!Object.hasOwn(config.clearedFailures, record.node)) return false;
  return config.clearedFailures[record.node]?.failedAt === record.failedAt;
}

function restarted(record: FailureRecord, members: readonly Member[]): FailureRecord {
  const life = members.find(({ node }) => node === record.node)?.value?.incarnation;
  if (record.until === null || record.restarted || life === undefined || life === record.incarnation) {
    return record;
  }
  return { ...endBackoff(record), incarnation: life, restarted: true };
}

export function failureOf(failures: readonly FailureRecord[], node: string): FailureRecord | null {
  return failures.find((record) => record.node === node) ?? null;
}

/**
 * Whether a record keeps its node out at `nowMs`. A node that waits for its backoff's end is in backoff by
 * it.
 */
export function isInBackoff(record: FailureRecord, nowMs: number): boolean {
  return record.until !== null && !isOver(record, nowMs);
}

/**
 * Its end has come, or its beginning is still to come: then the ensemble's clock was set back, and it would
 * last for as much longer than it should.
 */
function isOver(record: FailureRecord, nowMs: number): boolean {
  return record.until === null || fromInstant(record.until) <= nowMs || isAhead(record, nowMs);
}
