/**
 * The memory of failed takeovers, kept in `elected`: how often a node failed since it was last READY, and until
 * when it is excluded for it. Exclusions double with each failure, up to a cap.
 *
 * An exclusion ends when its time is over, when a person readmits the node, once when the node starts anew, or when the
 * node, elected again, becomes READY. One that has not even begun is over as well: the ensemble's clock was set back.
 */
import { durationMs } from './duration.js';
import { isAhead } from './ensemble-clock.js';
import type { GroupConfig } from './group-config.js';
import { fromInstant, toInstant } from './names.js';
import { type Claim, claimOwner, type Member } from './snapshot.js';
import { type Elected, type FailureRecord, mostFailures } from './znodes.js';

export interface Failed {
  readonly node: string;
  readonly incarnation: string;
  readonly reason: string;
}

/** `failures` with one more: `failed` is excluded from `nowMs` on (epoch, the ensemble's clock). */
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
    until: toInstant(nowMs + exclusionMs(config, count)),
    restarted: before?.restarted ?? false,
  };
  return [...failures.filter(({ node }) => node !== failed.node), record].slice(-mostFailures);
}

export function exclusionMs(config: GroupConfig, count: number): number {
  const base = durationMs(config.exclusion.base);
  return Math.min(base * 2 ** Math.min(count - 1, 40), durationMs(config.exclusion.max));
}

/** The failures of a decision as they stand at `nowMs`: what has ended is ended, what no longer matters is forgotten. */
export function settleFailures(
  elected: Pick<Elected, 'node' | 'term' | 'failures'>,
  members: readonly Member[],
  current: Claim | null,
  config: GroupConfig,
  nowMs: number,
): FailureRecord[] {
  const ready = recovered(elected, current, members);
  return elected.failures
    .filter((record) => record.node !== ready && !isReadmitted(record, config))
    .map((record) => (isOver(record, nowMs) ? letTry(record) : record))
    .filter((record) => record.until !== null || isRemembered(record, members, config, nowMs))
    .map((record) => restarted(record, members));
}

/** The elected node once it is READY by that decision: its failures are over. One that is READY by an earlier one may have failed since. */
export function recovered(
  { node, term }: Pick<Elected, 'node' | 'term'>,
  current: Claim | null,
  members: readonly Member[],
): string | null {
  return current?.value?.term === term && readyNode(current, members) === node ? node : null;
}

/** The node that is READY. */
export function readyNode(current: Claim | null, members: readonly Member[]): string | null {
  if (current?.value?.status !== 'READY') return null;
  return claimOwner(current, members)?.node ?? null;
}

function letTry(record: FailureRecord): FailureRecord {
  return { ...record, until: null };
}

function isReadmitted(record: FailureRecord, config: GroupConfig): boolean {
  if (!Object.hasOwn(config.readmitted, record.node)) return false;
  return config.readmitted[record.node]?.failedAt === record.failedAt;
}

function restarted(record: FailureRecord, members: readonly Member[]): FailureRecord {
  const life = members.find(({ node }) => node === record.node)?.value?.incarnation;
  if (record.until === null || record.restarted || life === undefined || life === record.incarnation) {
    return record;
  }
  return { ...letTry(record), incarnation: life, restarted: true };
}

/** As long as the life lasts that failed, and then for a time: a new one starts with a clean sheet. */
function isRemembered(
  { node, incarnation, failedAt }: FailureRecord,
  members: readonly Member[],
  config: GroupConfig,
  nowMs: number,
): boolean {
  if (nowMs - fromInstant(failedAt) < 2 * durationMs(config.exclusion.max)) return true;
  return members.some((member) => member.node === node && member.value?.incarnation === incarnation);
}
export function failureOf(failures: readonly FailureRecord[], node: string): FailureRecord | null {
  return failures.find((record) => record.node === node) ?? null;
}

/** Whether a record keeps its node out at `nowMs`. A node that waits for its exclusion's end is excluded by it. */
export function excludes(record: FailureRecord, nowMs: number): boolean {
  return record.until !== null && !isOver(record, nowMs);
}

/** Its end has come, or its beginning is still to come: then the ensemble's clock was set back, and it would last for as
 * much longer than it should. */
export function isOver(record: FailureRecord, nowMs: number): boolean {
  return record.until === null || fromInstant(record.until) <= nowMs || isAhead(record, nowMs);
}
