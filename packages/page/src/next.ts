/** Determines which node would lead next, and why, from the agent's `/explain`. */
import type { Explanation, Status } from './schemas.js';
import { isSeveral, type SlotStatus, slotsOf } from './slots.js';

/** Largest number of slots that are queried. A group may have very many slots. */
const mostQueries = 10;

/**
 * Returns one query per slot. If the slot has a registered leader, the query asks which node would follow it.
 * Otherwise it asks which node would lead now.
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

export function nextOf({ slot, without, choice, ranking, ineligible }: Explanation): Next {
  const gone = without.nodes[0];
  // While the group is paused, the choice is the leader itself, although it is gone.
  const who = choice.node === null || choice.node === gone ? 'No node' : choice.node;
  return {
    slot,
    headline: gone === undefined ? `${who} would lead now` : `${who} would follow ${gone}`,
    reason: choice.reason,
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
