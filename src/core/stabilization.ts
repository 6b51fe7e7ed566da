/**
 * Decides when a node with better scores replaces a leader. Measurements fluctuate, so the node must have
 * been better for some time without a break. Strategies that do not compare scores do not use this.
 */

import { durationMs } from '../model/duration.js';
import type { GroupConfig } from '../model/group-config.js';
import type { Member } from '../model/snapshot.js';
import { incarnationKey } from '../model/snapshot.js';
import type { Ranked } from '../model/strategy.js';

/**
 * By incarnation of another node: the instant since which it has been better than the leader, as observed by
 * an elector.
 */
export interface BetterSince {
  /** The incarnation of the leader with which the other nodes were compared. */
  readonly than: string;
  /** Start of the period, on the elector's monotonic clock. The key is the incarnation of the better node. */
  readonly sinceMs: ReadonlyMap<string, number>;
}

interface Seen {
  readonly members: readonly Member[];
  readonly elected: string | null;
  readonly nowMs: number;
}

/**
 * Returns the instants in `before`, updated with a new ranking. Returns null if the elected node is not in
 * the ranking.
 */
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

/** Returns the time for which `node` has been better than the elected node. */
export function betterForMs(seen: Seen, node: string, betterSince: BetterSince | null): number {
  const life = lifeNow(seen, node);
  if (life === null || betterSince === null || betterSince.than !== lifeNow(seen, seen.elected)) return 0;
  return seen.nowMs - (betterSince.sinceMs.get(life) ?? seen.nowMs);
}

function lifeNow({ members }: Seen, node: string | null): string | null {
  const member = members.find((one) => one.node === node);
  return member === undefined ? null : incarnationKey(member);
}

/**
 * Returns the time for which another node must have been better before it replaces the leader. The setting
 * `failback: after:…` can extend this time but not shorten it.
 */
export function stabilizationWindowMs({ stabilization }: GroupConfig, failbackMs: number): number {
  return Math.max(durationMs(stabilization.window), failbackMs);
}
