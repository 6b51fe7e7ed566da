/** Who would be next, and why, as `explain` tells it. */
import type { Explanation, Status } from './shapes.js';

/** What to ask: who would follow if the leader went, or, while there is none, who is to come. */
export function nextQuestion({ leader, nodes }: Status): string {
  const registered = nodes.some(({ node }) => node === leader?.node);
  if (leader?.node == null || !registered) return '/explain';
  return `/explain?without=${encodeURIComponent(leader.node)}`;
}

export interface Next {
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

export function nextOf({ without, choice, ranking, unfit }: Explanation): Next {
  const gone = without.nodes[0];
  const who = choice.node ?? 'nobody';
  return {
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
