/** Determines which node would lead next, and why, from the agent's `/status` and `/explain`. */
import type { Explanation, Status } from './schemas.js';
import { isSeveral, type SlotStatus, slotsOf } from './slots.js';

/** Maximum number of slots that are queried. A group may have very many slots. */
const mostQueries = 10;

/**
 * Returns one query per slot. If the slot has a registered leader, the query asks which node would become the
 * next leader. Otherwise, it asks which node would lead now.
 */
export function nextQueries(status: Status): string[] {
  return slotsOf(status)
    .slice(0, mostQueries)
    .map((own) => nextQuery(own, isSeveral(status)));
}

function nextQuery({ leader, nodes, slot }: SlotStatus, several: boolean): string {
  const registered = nodes.some(({ node }) => node === leader?.node);
  const query = new URLSearchParams();
  if (leader?.node != null && registered) query.set('without', leader.node);
  if (several) query.set('slot', String(slot));
  return query.size === 0 ? '/explain' : `/explain?${query}`;
}

export interface Next {
  readonly slot: number;
  readonly headline: string;
  readonly reason: string;
  readonly ranking: readonly Rank[];
  readonly ineligible: readonly Ineligible[];
}

export interface Rank {
  readonly rank: number;
  readonly node: string;
  readonly site: string;
  readonly reason: string;
}

export interface Ineligible {
  readonly node: string;
  readonly site: string;
  readonly reasons: readonly string[];
}

type Published = Pick<Status, 'leader' | 'successor'>;

export function nextOf(explanation: Explanation, published: Published | null): Next {
  const { slot, without, choice, ranking, ineligible } = explanation;
  const gone = without.nodes[0];
  return {
    slot,
    ...(gone === undefined
      ? { headline: `${choice.node ?? 'No node'} would lead now`, reason: choice.reason }
      : followsText(explanation, gone, published)),
    ranking: ranking.map(({ rank, node, site, reason }) => ({ rank, node, site, reason })),
    ineligible: ineligible
      .filter(({ node }) => node !== gone)
      .map(({ node, site, ineligibleReasons }) => ({
        node,
        site: site ?? 'unknown',
        reasons: ineligibleReasons.map(({ reason }) => reason),
      })),
  };
}

/**
 * Returns text about the next leader. If the elector has published the successor, uses the same words as
 * `petrel list`. Otherwise, describes the choice that the elector would make without the current leader.
 */
function followsText(
  { choice, ranking }: Explanation,
  leader: string,
  published: Published | null,
): Pick<Next, 'headline' | 'reason'> {
  // While the group is paused, the choice is the leader itself, even though the leader is assumed to be gone.
  const chosen = choice.node === leader ? null : choice.node;
  const successor = published?.leader?.node === leader ? published.successor : null;
  if (successor?.nobody === true) {
    return { headline: `If ${leader} leaves, no node can follow`, reason: successor.reason };
  }
  if (successor?.node == null) {
    // The reason for the choice begins with the statement that the leader is no longer registered. Here, that
    // is only an assumption.
    const best = ranking[0]?.node === chosen ? ranking[0]?.reason : undefined;
    const headline = `If ${leader} left now, ${chosen ?? 'no node'} would follow`;
    return { headline, reason: best ?? choice.reason };
  }
  const { node, reason } = successor;
  const otherwise = chosen === null || chosen === node ? '' : `; if ${leader} fails, ${chosen} follows`;
  return { headline: `If ${leader} leaves, ${node} follows`, reason: `${reason}${otherwise}` };
}
