/**
 * Deadlines: instants at which the state of a group changes. Examples are the end of a backoff or an
 * override, and the start of a scheduled switchover. Deadlines are on the ensemble's clock, which a node
 * reads through its own writes.
 */

import { type GroupConfig, overrideInForce } from '../model/group-config.js';
import { fromInstant } from '../model/names.js';
import type { FailureRecord } from '../model/znodes.js';
import { backoffDeadlinesMs, type Failed } from './backoff.js';
import {
  type ClockReading,
  ensembleNowMs,
  isAhead,
  isExact,
  isOutdated,
  nextMinuteInMs,
} from './ensemble-clock.js';
import { missedAtMs } from './requests.js';
import { overdueMs, type Watched } from './watchdog.js';

/** Returns every deadline, whether past or future. */
function deadlinesMs(config: GroupConfig, failures: readonly FailureRecord[]): number[] {
  const overrides = Object.values(config.sites).map(({ override }) => override?.until ?? null);
  const named = [...overrides, config.switchover?.notBefore ?? null].filter((instant) => instant !== null);
  const missedMs = config.switchover === null ? null : missedAtMs(config.switchover);
  const instants = [...named.map(fromInstant), ...(missedMs === null ? [] : [missedMs])];
  return [...instants, ...failures.flatMap((record) => backoffDeadlinesMs(record, config))];
}

/** What deadlines and minutes of the day depend on. */
interface DeadlineInput {
  readonly config: GroupConfig;
  readonly failures: readonly FailureRecord[];
  /** Minutes of the day, in UTC, at which a decision may change. */
  readonly minutes: readonly number[];
}

/**
 * Returns the time until the next instant after `epochMs` at which a decision may change, whether a deadline
 * or a minute of the day. Returns null if there is none.
 */
export function nextInstantInMs(
  { config, failures, minutes }: DeadlineInput,
  epochMs: number,
): number | null {
  const deadlines = deadlinesMs(config, failures).map((instant) => instant - epochMs);
  const ahead = [...deadlines, nextMinuteInMs(minutes, epochMs) ?? 0].filter((ms) => ms > 0);
  return ahead.length === 0 ? null : Math.min(...ahead);
}

/** Whether the ensemble's clock must be read again before any decision at `nowMs` (monotonic). */
export function needsReading(
  reading: ClockReading | null,
  { config, failures, minutes }: DeadlineInput,
  nowMs: number,
): boolean {
  if (reading === null) return true;
  const ahead = deadlinesMs(config, failures).filter((limit) => limit > reading.epochMs);
  if (ahead.length > 0 && isOutdated(reading, nowMs)) return true;
  const epochMs = ensembleNowMs(reading, nowMs);
  const hasPassed = ahead.some((limit) => limit <= epochMs);
  // The ensemble's clock may have been set forward or back, before or after this reading. Only a new reading
  // shows which.
  const wasSet = failures.some((record) => record.until !== null && isAhead(record, epochMs));
  // An approaching deadline requires a recent reading, but an approaching minute of the day does not. A
  // minute of the day need not be exact, and there is always a next one.
  const nextMs = nextMinuteInMs(minutes, reading.epochMs) ?? Number.POSITIVE_INFINITY;
  const isOtherTime = reading.epochMs + nextMs <= epochMs;
  return (hasPassed || wasSet || isOtherTime) && !isExact(reading, nowMs);
}

/** Evidence that may lead the elector to blame or fence a node. */
interface Blame {
  readonly failed: Failed | null;
  readonly watched: Watched | null;
}

/**
 * Whether the ensemble's clock must be read again before a decision at `nowMs` (monotonic), also because the
 * decision would blame or fence a node.
 */
export function mustReadClock(
  reading: ClockReading,
  timed: DeadlineInput,
  { failed, watched }: Blame,
  nowMs: number,
): boolean {
  const isAgainst = failed !== null || watched?.condition.kind === 'holding';
  return (
    needsReading(reading, timed, nowMs) ||
    (failed !== null && isOutdated(reading, nowMs)) ||
    (isAgainst && isStale(reading, watched, nowMs))
  );
}

/**
 * Whether a time limit has expired since the clock was last read. A server that is cut off from the other
 * servers may still answer, but it does not show the candidate's progress or the release of a claim. Reading
 * the clock is a write, and any data that is read afterwards is at least as recent as this write. Reading the
 * clock again therefore prevents the elector from blaming or fencing a node because of an outdated read.
 */
function isStale(reading: ClockReading, watched: Watched | null, nowMs: number): boolean {
  if (watched === null) return false;
  const lateMs = overdueMs(watched, nowMs);
  return lateMs >= 0 && reading.atMs < nowMs - lateMs;
}

/** Returns the sites whose override has expired but is still in the configuration. */
export function endedOverrides(config: GroupConfig, epochMs: number): string[] {
  return Object.entries(config.sites)
    .filter(([, site]) => overrideInForce(site, epochMs) !== site.override)
    .map(([name]) => name);
}
