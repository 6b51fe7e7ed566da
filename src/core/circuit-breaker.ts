/**
 * The circuit breaker: where more leaderships have moved by themselves within a while than is normal,
 * something is wrong that moving does not cure, and the next group that is about to move is paused instead,
 * until a person has looked. Several groups share one by naming the same znode.
 *
 * What counts are decisions that nobody asked for: after a failure, a retry, for a better node. Not counted:
 * a group's first election, what people ask for, and a leader that leaves in good order.
 */
import { durationMs } from '../model/duration.js';
import { type GroupConfig, mostCircuitBreakerTransitions } from '../model/group-config.js';
import { fromInstant, toInstant } from '../model/names.js';
import type { CircuitBreaker } from '../model/snapshot.js';
import type { Cause, CircuitBreakerRecord, Elected } from '../model/znodes.js';
import { isAhead } from './ensemble-clock.js';

export const emptyCircuitBreakerRecord: CircuitBreakerRecord = { moved: [] };

const automatic: ReadonlySet<Cause> = new Set<Cause>(['failure', 'retry', 'preference']);

/** The path of the record; null where the group has no circuit breaker. */
export function circuitBreakerPath(config: GroupConfig, root: string): string | null {
  const { transitions, record } = config.circuitBreaker;
  return transitions === 0 ? null : (record ?? `${root}/circuit-breaker`);
}

export type WithCircuitBreaker =
  /** The decision may be made, and this is to be recorded with it; null: it does not count. */
  | { readonly stops: false; readonly record: CircuitBreakerRecord | null }
  /** Why the group is to be paused instead. */
  | { readonly stops: true; readonly reason: string };

/** What the circuit breaker makes of a decision; `epochMs` is now, on the ensemble's clock. */
export function circuitBreaker(
  { record, root }: CircuitBreaker,
  config: GroupConfig,
  decision: Pick<Elected, 'cause' | 'term' | 'node'>,
  epochMs: number,
): WithCircuitBreaker {
  const { cause, term, node } = decision;
  // While a person, or the circuit breaker itself, has paused it, only whoever is elected is tried again.
  if (!automatic.has(cause) || node === null || config.paused !== null) return { stops: false, record: null };
  const { transitions, within } = config.circuitBreaker;
  const resumedMs = config.resumed === null ? Number.NEGATIVE_INFINITY : fromInstant(config.resumed.at);
  const sinceMs = Math.max(resumedMs, epochMs - durationMs(within));
  // One that lies ahead was counted before the ensemble's clock was set back.
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
  const next = `Pending: ${root} term ${term} (${cause}). Run petrel resume when the cause is fixed`;
  return {
    stops: true,
    reason: `automatic failover suspended after leadership ${where} moved ${timesText(counted.length)} within ${within}. ${next}`,
  };
}

function timesText(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
