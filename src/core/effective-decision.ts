/**
 * Determines the decision to act on and the last node that was READY, even if `leader/elected` is malformed
 * or was deleted and created again.
 */
import { claimOwner, type GroupSnapshot, type Member } from '../model/snapshot.js';
import { type Elected, lastTerm, type Place } from '../model/znodes.js';

type Decided = Pick<GroupSnapshot, 'elected' | 'current' | 'history'>;

/**
 * Returns the decision in `elected`. If that decision is lost, returns what is safe to assume: the current
 * leader continues, and terms never decrease.
 */
export function effectiveDecision({ elected, current, history }: Decided): Elected {
  const leader = current?.value ?? null;
  const known = Math.max(leader?.term ?? 0, history?.value?.term ?? 0);
  if (elected.value !== null && elected.value.term >= known) return elected.value;
  // The lost term is either the recorded term or the next one. Without a history, the number of writes to the
  // znode is an upper bound for the lost term.
  const recorded = history?.value == null ? elected.version : history.value.term + 1;
  const lost =
    elected.value === null
      ? elected.problem
      : `its term is ${elected.value.term}, but there has already been a term ${known}`;
  return {
    node: leader?.node ?? null,
    site: leader?.site ?? null,
    term: Math.min(Math.max(known, recorded), lastTerm),
    strategy: 'none',
    reason: `the decision in leader/elected is lost (${lost})`,
    cause: leader === null ? 'nobody' : 'retry',
    by: 'none',
    previous: leader === null ? null : { node: leader.node, site: leader.site },
    priorities: null,
    requested: null,
    failedSite: null,
    failures: [],
  };
}

/** Whether the effective decision is a fallback rather than the content of the snapshot. */
export function isFallback({ elected }: Pick<GroupSnapshot, 'elected'>, decided: Elected): boolean {
  return elected.value !== decided;
}

/**
 * Returns the last node that was READY. This is the owner of a READY claim, or the elected node if its term
 * reached READY. If neither exists, returns the previous leader from `elected`.
 */
export function previousLeader(
  { current, elected, history }: Pick<GroupSnapshot, 'current' | 'elected' | 'history'>,
  members: readonly Member[],
): Place | null {
  if (current?.value?.status === 'READY') {
    return { node: claimOwner(current, members)?.node ?? current.value.node, site: current.value.site };
  }
  if (elected.value === null) return null;
  const { term, previous } = elected.value;
  // The history head contains the current term only once that term has reached READY.
  return history?.value?.term === term ? (electedPlace(elected.value) ?? previous) : previous;
}

/** Returns the elected node with its site. Returns null if no node is elected, or if its site is unknown. */
export function electedPlace({ node, site }: Elected): Place | null {
  return node === null || site === null ? null : { node, site };
}
