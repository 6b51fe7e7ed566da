/**
 * Decides when a node with better scores replaces a leader. Measurements fluctuate, so the node must have
 * been better for some time without a break. Strategies that compare no scores do not use this.
 */

import { durationMs } from '../model/duration.js';
import type { GroupConfig } from '../model/group-config.js';
import type { Member } from '../model/snapshot.js';
import { incarnationKey } from '../model/snapshot.js';
import type { Ranked } from '../model/strategy.js';

/** Instants since which other nodes have been better than the leader, as far as an elector has seen. */
export interface BetterSince {
  /** The incarnation of the leader that they were compared with. */
  readonly than: string;
  /** By incarnation, on the elector's monotonic clock. */
  readonly sinceMs: ReadonlyMap<string, number>;
}

interface Seen {
  readonly members: readonly Member[];
  readonly elected: string | null;
  readonly nowMs: number;
}

/** Returns `before` updated with a ranking. */
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

/** Returns how long `node` has been better than the elected one. */
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
 * Returns how long another node must have been better. `failback: after:…` can extend this time but not
 * shorten it.
 */
export function stabilizationWindowMs({ stabilization }: GroupConfig, failbackMs: number): number {
  return Math.max(durationMs(stabilization.window), failbackMs);
}
