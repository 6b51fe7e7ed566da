/** Who would be next, and why, as `explain` tells it. */
import type { Explanation, Status } from './shapes.js';
import { isSeveral, type SlotStatus, slotsOf } from './slots.js';

/** Of very many slots only the first are asked about. */
const mostQuestions = 10;

/** What to ask: of each slot, who would follow if the leader went, or, while there is none, who is to come. */
export function nextQuestions(status: Status): string[] {
  return slotsOf(status)
    .slice(0, mostQuestions)
    .map((own) => nextQuestion(own, isSeveral(status)));
}

function nextQuestion({ leader, nodes, slot }: SlotStatus, several: boolean): string {
  const registered = nodes.some(({ node }) => node === leader?.node);
  const asked = new URLSearchParams();
  if (leader?.node != null && registered) asked.set('without', leader.node);
  if (several) asked.set('slot', String(slot));
  return asked.size === 0 ? '/explain' : `/explain?${asked}`;
}

export interface Next {
  readonly slot: number;
  readonly headline: string;
  readonly reason: string;
  readonly ranking: readonly Rank[];
  readonly unfit: readonly Unfit[];
}

export interface Rank {
  readonly rank: number;
  readonly node: string;
  readonly site: string;
  readonly reason: string;
}

export interface Unfit {
  readonly node: string;
  readonly site: string;
  readonly reasons: readonly string[];
}

export function nextOf({ slot, without, choice, ranking, unfit }: Explanation): Next {
  const gone = without.nodes[0];
  const who = choice.node ?? 'nobody';
  return {
    slot,
    headline: gone === undefined ? `${who} would lead now` : `${who} would follow ${gone}`,
    reason: choice.reason,
    ranking: ranking.map(({ rank, node, site, reason }) => ({ rank, node, site, reason })),
    unfit: unfit
      .filter(({ node }) => node !== gone)
      .map(({ node, site, obstacles }) => ({
        node,
        site: site ?? 'unknown',
        reasons: obstacles.map(({ reason }) => reason),
      })),
  };
}
