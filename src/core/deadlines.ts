/**
 * Instants that change what is true: ends of backoffs and overrides, beginnings of planned switchovers. They
 * are instants on the ensemble's clock, which a node knows by reading it off a write of its own.
 */

import { type GroupConfig, overrideInForce } from '../model/group-config.js';
import { fromInstant } from '../model/names.js';
import type { FailureRecord } from '../model/znodes.js';
import { backoffDeadlinesMs } from './backoff.js';
import {
  type ClockReading,
  ensembleNowMs,
  isAhead,
  isExact,
  isOutdated,
  nextMinuteInMs,
} from './ensemble-clock.js';
import { missedAtMs } from './requests.js';

/** Every limit, past and future, in force or not yet acted on. */
function deadlinesMs(config: GroupConfig, failures: readonly FailureRecord[]): number[] {
  const overrides = Object.values(config.sites).map(({ override }) => override?.until ?? null);
  const named = [...overrides, config.switchover?.notBefore ?? null].filter((instant) => instant !== null);
  const missedMs = config.switchover === null ? null : missedAtMs(config.switchover);
  const instants = [...named.map(fromInstant), ...(missedMs === null ? [] : [missedMs])];
  return [...instants, ...failures.flatMap((record) => backoffDeadlinesMs(record, config))];
}

/** How long until the next limit after `epochMs`; null when there is none. */
export function nextDeadlineInMs(
  config: GroupConfig,
  failures: readonly FailureRecord[],
  epochMs: number,
): number | null {
  const ahead = deadlinesMs(config, failures).filter((limit) => limit > epochMs);
  return ahead.length === 0 ? null : Math.min(...ahead) - epochMs;
}

/** What the time is needed for. */
export interface Timed {
  readonly config: GroupConfig;
  readonly failures: readonly FailureRecord[];
  /** Minutes of the day at which the strategy may begin to rank otherwise. */
  readonly minutes: readonly number[];
}

/** Whether the clock must be read anew before anything is decided at `nowMs` (monotonic). */
export function needsReading(
  reading: ClockReading | null,
  { config, failures, minutes }: Timed,
  nowMs: number,
): boolean {
  if (reading === null) return true;
  const ahead = deadlinesMs(config, failures).filter((limit) => limit > reading.epochMs);
  if (ahead.length > 0 && isOutdated(reading, nowMs)) return true;
  const epochMs = ensembleNowMs(reading, nowMs);
  const hasPassed = ahead.some((limit) => limit <= epochMs);
  // Since this reading, or before it: only a new one tells whether the clock was set forward or back.
  const wasSet = failures.some((record) => record.until !== null && isAhead(record, epochMs));
  // Not counted to from an old reading, as limits are not: it need not be exact, and it always lies ahead.
  const nextMs = nextMinuteInMs(minutes, reading.epochMs) ?? Number.POSITIVE_INFINITY;
  const isOtherTime = reading.epochMs + nextMs <= epochMs;
  return (hasPassed || wasSet || isOtherTime) && !isExact(reading, nowMs);
}

/** Sites whose override has ended and still stands in the configuration. */
export function endedOverrides(config: GroupConfig, epochMs: number): string[] {
  return Object.entries(config.sites)
    .filter(([, site]) => site.override !== null && overrideInForce(site, epochMs) === null)
    .map(([name]) => name);
}
