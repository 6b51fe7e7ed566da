/**
 * Decides when a node with better scores replaces a leader. Measurements fluctuate, so the node must have
 * been better continuously for some time. Strategies that do not compare scores do not use this.
 */

import { durationMs } from '../model/duration.js';
import type { GroupConfig } from '../model/group-config.js';
import type { Member } from '../model/snapshot.js';
import { incarnationKey } from '../model/snapshot.js';
import type { Ranked } from '../model/strategy.js';

/** Instants at which other nodes became better than the leader, as observed by an elector. */
export interface BetterSince {
  /** The incarnation of the leader with which the other nodes were compared. */
  readonly than: string;
  /** The instants, on the elector's monotonic clock. The key is the incarnation of the better node. */
  readonly sinceMs: ReadonlyMap<string, number>;
}

interface Compared {
  readonly members: readonly Member[];
  readonly elected: string | null;
  readonly nowMs: number;
}

/**
 * Returns the instants in `before`, updated with a new ranking. Returns null if the elected node is not in
 * the ranking.
 */
export function updatedBetterSince(
  compared: Compared,
  ranking: readonly Ranked[],
  before: BetterSince | null,
): BetterSince | null {
  const than = incarnationOf(compared, compared.elected);
  const present = ranking.find(({ node }) => node === compared.elected);
  if (present === undefined || than === null) return null;
  const known = before?.than === than ? before.sinceMs : new Map<string, number>();
  const better = new Set(ranking.filter(({ grade }) => grade < present.grade).map(({ node }) => node));
  const incarnations = compared.members.filter(({ node }) => better.has(node)).map(incarnationKey);
  return {
    than,
    sinceMs: new Map(
      incarnations.map((incarnation) => [incarnation, known.get(incarnation) ?? compared.nowMs]),
    ),
  };
}

/** Returns how long `node` has been better than the elected node. */
export function betterForMs(compared: Compared, node: string, betterSince: BetterSince | null): number {
  const incarnation = incarnationOf(compared, node);
  if (
    incarnation === null ||
    betterSince === null ||
    betterSince.than !== incarnationOf(compared, compared.elected)
  )
    return 0;
  return compared.nowMs - (betterSince.sinceMs.get(incarnation) ?? compared.nowMs);
}

function incarnationOf({ members }: Compared, node: string | null): string | null {
  const member = members.find((one) => one.node === node);
  return member === undefined ? null : incarnationKey(member);
}

/**
 * Returns how long another node must have been better before it replaces the leader. The setting `failback:
 * after:…` can extend this time but not shorten it.
 */
export function stabilizationWindowMs({ stabilization }: GroupConfig, failbackMs: number): number {
  return Math.max(durationMs(stabilization.window), failbackMs);
}
