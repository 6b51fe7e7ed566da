/**
 * When a leader is left for a node that measures better: not at the first sight of it, since what is measured
 * moves, but once that node has been better without a break. Strategies that compare no scores know nothing
 * of this.
 */

import { durationMs } from '../model/duration.js';
import type { GroupConfig } from '../model/group-config.js';
import type { Member } from '../model/snapshot.js';
import { incarnationKey } from '../model/snapshot.js';
import type { Ranked } from '../model/strategy.js';

/** Since when other nodes have been better than the leader, as far as an elector saw. */
export interface BetterSince {
  /** The life of the leader that they were compared with. */
  readonly than: string;
  /** By life, on the elector's monotonic clock. */
  readonly sinceMs: ReadonlyMap<string, number>;
}

interface Seen {
  readonly members: readonly Member[];
  readonly elected: string | null;
  readonly nowMs: number;
}

/** What `before` becomes by a ranking. */
export function updatedBetterSince(
  seen: Seen,
  ranking: readonly Ranked[],
  before: BetterSince | null,
): BetterSince | null {
  const than = lifeNow(seen, seen.elected);
  const present = ranking.find(({ node }) => node === seen.elected);
  if (present === undefined || than === null) return null;
  const known = before?.than === than ? before.sinceMs : new Map<string, number>();
  const better = new Set(ranking.filter(({ grade }) => grade < present.grade).map(({ node }) => node));
  const lives = seen.members.filter(({ node }) => better.has(node)).map(incarnationKey);
  return { than, sinceMs: new Map(lives.map((life) => [life, known.get(life) ?? seen.nowMs])) };
}

/** How long `node` has been better than the elected one. */
export function betterForMs(seen: Seen, node: string, betterSince: BetterSince | null): number {
  const life = lifeNow(seen, node);
  if (life === null || betterSince === null || betterSince.than !== lifeNow(seen, seen.elected)) return 0;
  return seen.nowMs - (betterSince.sinceMs.get(life) ?? seen.nowMs);
}

function lifeNow({ members }: Seen, node: string | null): string | null {
  const member = members.find((one) => one.node === node);
  return member === undefined ? null : incarnationKey(member);
}

/** How long another must have been better; `failback: after:…` may ask for longer, and never for less. */
export function stabilizationWindowMs({ stabilization }: GroupConfig, failbackMs: number): number {
  return Math.max(durationMs(stabilization.window), failbackMs);
}
