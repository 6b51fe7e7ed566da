/**
 * The circuit breaker. If leadership moves automatically more often than normal within a given time, another
 * move will not fix the cause. The next group whose leadership is about to move is then paused until an
 * operator resumes it. Several groups can share one circuit breaker by naming the same znode.
 *
 * The circuit breaker counts decisions that no operator requested: those after a failure, retries, and moves
 * to a better node. It does not count a group's first election, requested changes, or the replacement of a
 * leader that is leaving in an orderly way.
 */
import { durationMs } from '../model/duration.js';
import { type GroupConfig, mostCircuitBreakerTransitions } from '../model/group-config.js';
import { fromInstant, toInstant } from '../model/names.js';
import type { CircuitBreaker } from '../model/snapshot.js';
import type { Cause, CircuitBreakerRecord, Elected } from '../model/znodes.js';
import type { Election } from './election-input.js';
import { isAhead } from './ensemble-clock.js';

export const emptyCircuitBreakerRecord: CircuitBreakerRecord = { moved: [] };

const automatic: ReadonlySet<Cause> = new Set<Cause>(['failure', 'retry', 'preference']);

/** Returns the path of the circuit breaker's record. Returns null if the group has no circuit breaker. */
export function circuitBreakerPath(config: GroupConfig, root: string): string | null {
  const { transitions, record } = config.circuitBreaker;
  return transitions === 0 ? null : (record ?? `${root}/circuit-breaker`);
}

type WithCircuitBreaker =
  /**
   * The decision may be made. `record` must be written in the same transaction. A null `record` means that
   * the decision does not count.
   */
  | { readonly stops: false; readonly record: CircuitBreakerRecord | null }
  /** The decision must not be made. `reason` says why the group must be paused instead. */
  | { readonly stops: true; readonly reason: string };

/**
 * Returns whether a decision may be made. `epochMs` is the current time on the ensemble's clock, in
 * milliseconds since the epoch.
 */
export function circuitBreaker(
  { record, root }: CircuitBreaker,
  config: GroupConfig,
  decision: Pick<Elected, 'cause' | 'term' | 'node'>,
  epochMs: number,
): WithCircuitBreaker {
  const { cause, term, node } = decision;
  // In a group that an operator or the circuit breaker has paused, only the elected node is tried again. Such
  // a retry does not count.
  if (!automatic.has(cause) || node === null || config.paused !== null) return { stops: false, record: null };
  const { transitions, within } = config.circuitBreaker;
  const resumedMs = config.resumed === null ? Number.NEGATIVE_INFINITY : fromInstant(config.resumed.at);
  const sinceMs = Math.max(resumedMs, epochMs - durationMs(within));
  // An entry with a time in the future was made before the ensemble's clock was set back.
  const counted = record.moved.filter(
    ({ at }) => fromInstant(at) > sinceMs && !isAhead({ failedAt: at }, epochMs),
  );
  if (counted.length < transitions) {
    const moved = [...record.moved, { at: toInstant(epochMs), root, term }].slice(
      -mostCircuitBreakerTransitions,
    );
    return { stops: false, record: { moved } };
  }
  const groups = [...new Set(counted.map((one) => one.root))].toSorted();
  const where = groups.length === 1 ? `of ${groups[0]}` : `of ${groups.length} groups, ${groups.join(', ')},`;
  const next = `Pending: term ${term} of ${root} (${cause}). Run petrel resume when the cause is fixed`;
  return {
    stops: true,
    reason: `automatic failover suspended after leadership ${where} moved ${timesText(counted.length)} within ${within}. ${next}`,
  };
}

type Checked =
  /** The decision may be made. `circuitBreaker` must be written with it, unless it is null. */
  | { readonly stops: false; readonly circuitBreaker: CircuitBreaker | null }
  | { readonly stops: true; readonly reason: string };

/** Returns whether the group's circuit breaker, if it has one, lets a decision pass. */
export function checkCircuitBreaker(
  { snapshot, config, epochMs }: Pick<Election, 'snapshot' | 'config' | 'epochMs'>,
  decision: Pick<Elected, 'cause' | 'term' | 'node'>,
): Checked {
  const known = snapshot.circuitBreaker ?? null;
  if (known === null) return { stops: false, circuitBreaker: null };
  const made = circuitBreaker(known, config, decision, epochMs);
  if (made.stops) return made;
  return { stops: false, circuitBreaker: made.record === null ? null : { ...known, record: made.record } };
}

function timesText(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
