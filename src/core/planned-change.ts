/**
 * Planned changes, which take leadership away from a working node. Leadership returns to that node if no
 * other node becomes READY, no matter how many nodes have failed in the meantime.
 */
import type { Elected, Place } from '../model/znodes.js';
import type { BestFirst } from './choice-input.js';

interface Led {
  /** The current decision. */
  readonly elected: Elected;
  /** The last node that was READY. Null if there has been none. */
  readonly previous: Place | null;
}

/**
 * Returns the planned change that a new decision belongs to. The change lasts from its first decision until a
 * node is READY, or until leadership returns. A failure is not a planned change. A forced failover ends a
 * planned change, because the previous leader is not trusted.
 */
export function handoverOf(
  { elected, previous }: Led,
  { node, cause, requested }: Pick<Elected, 'node' | 'cause' | 'requested'>,
): Pick<Elected, 'handover'> {
  const isOver = node === previous?.node;
  if (isOver || requested?.forced === true) return {};
  const isRequested = requested !== null;
  if (elected.node !== previous?.node) {
    const { handover } = elected;
    return handover === undefined
      ? {}
      : { handover: { ...handover, requested: handover.requested || isRequested } };
  }
  if (!isRequested && cause !== 'planned' && cause !== 'preference') return {};
  const previousBy = elected.requested?.by;
  return { handover: { requested: isRequested, ...(previousBy === undefined ? {} : { previousBy }) } };
}

/**
 * Returns the operator's earlier request for the previous leader, if leadership returns to that node. The
 * node then leads at the operator's request again, as it did before the planned change.
 */
export function requestedBefore({ elected, previous }: Led, node: string): Elected['requested'] {
  const by = elected.handover?.previousBy;
  return by === undefined || node !== previous?.node || node === elected.node ? null : { by, overridden: [] };
}

/**
 * Moves the previous leader to the front if a planned change failed before any node was READY. The previous
 * leader worked until just before that change. If no operator requested the change, the previous leader is
 * moved only if it has the same grade as the best node.
 */
export function withLastGood({ elected, previous }: Led, ranking: BestFirst): BestFirst {
  const { handover } = elected;
  const last = ranking.find(({ node }) => node === previous?.node && node !== elected.node);
  const [best] = ranking;
  if (handover === undefined || last === undefined || last === best) return ranking;
  if (!handover.requested && last.grade !== best.grade) return ranking;
  const to = elected.node === null ? '' : ` to ${elected.node}`;
  const reason = `it led before the failed handover${to}; ${last.reason}`;
  return [{ ...last, reason }, ...ranking.filter((one) => one !== last)];
}
