/** Distinguishes the planned end of a leadership from an end that is caused by a failure. */
import type { Leadership } from '../../core/leadership.js';
import type { Cause } from '../../model/znodes.js';
import type { LeadershipRound } from './options.js';

/** Causes of decisions that replace a working leader. */
const plannedCauses: ReadonlySet<Cause> = new Set<Cause>(['planned', 'preference', 'shutdown']);

/**
 * Whether the end of the leadership was planned. It was planned if the node is leaving, or if the decision of
 * term `endedBy` replaces a working leader. `round` is the round that ends the leadership, or undefined if no
 * round ends it.
 */
export function isPlannedEnd(
  { term }: Pick<Leadership, 'term'>,
  endedBy: number,
  round: Pick<LeadershipRound, 'draining' | 'snapshot'> | undefined,
): boolean {
  if (round === undefined) return false;
  if (round.draining) return true;
  const decided = round.snapshot?.elected.value;
  return endedBy > term && decided?.term === endedBy && plannedCauses.has(decided.cause);
}
