/**
 * The elector's memory: what an elector has observed, and when each observation started on the elector's own
 * monotonic clock. The memory of a new elector is empty, unless the node was the next elector before. In that
 * case, the memory contains what the node observed in its periodic checks of the group.
 */

import { incarnationKey } from '../model/snapshot.js';
import type { Elected, Successor } from '../model/znodes.js';
import { countSites, type SiteCounts } from './failed-sites.js';
import { type BetterSince, betterForMs } from './stabilization.js';
import { type Observation, type ObservedTransition, observeTransition } from './watchdog.js';

/**
 * The state on which the fencing and the removal of a claim are based. The claim is not removed if any part
 * of this state has changed.
 */
export interface Fence {
  readonly token: bigint;
  readonly node: string;
  readonly claimVersion: number;
  readonly electedVersion: number;
  /**
   * Version of the elected node's registration. If the node has made a claim since this version was read, the
   * version has changed.
   */
  readonly electedNode: { readonly node: string; readonly version: number } | null;
}

export interface ElectorMemory extends ObservedTransition {
  /** Monotonic instant of the elector's last check. Null if there has been none. */
  readonly lookedAtMs: number | null;
  /** The monotonic instant at which each node became eligible, keyed by incarnation. */
  readonly eligibleSinceMs: ReadonlyMap<string, number>;
  /** The instants at which other nodes became better than the leader. Null if no scores are compared. */
  readonly betterSince: BetterSince | null;
  /**
   * Monotonic instant at which the elector began to wait for the group's first election. Null if it is not
   * waiting.
   */
  readonly firstLookMs: number | null;
  /**
   * Counts of the nodes in each site. Null on a node that is not the elector, because such a node observes
   * the group only from time to time.
   */
  readonly sites: {
    /**
     * This node's seat when it counted the nodes. If this node has a different seat now, it may have missed
     * events since then.
     */
    readonly seat: string;
    readonly counts: SiteCounts;
  } | null;
  /** Token of the claim for which an alarm was raised. */
  readonly alarmed: bigint | null;
  /** The claim whose owner this elector has fenced. */
  readonly fenced: Fence | null;
  /** Number of failed attempts by this node to fence the owner of a claim. */
  readonly failedFences: { readonly token: bigint; readonly count: number } | null;
  /**
   * Token of this node's own claim, once this node has left the decision about that claim to another elector.
   */
  readonly leftTo: bigint | null;
  /**
   * The result of the last search for a successor, and the values that it is based on. Null if no search has
   * been made.
   */
  readonly successor: KnownSuccessor | null;
}

export interface KnownSuccessor {
  /**
   * Immutable values that the result is based on. The result remains valid as long as all of them are
   * unchanged.
   */
  readonly restsOn: readonly unknown[];
  readonly found: Successor | null;
}

export const newElector: ElectorMemory = {
  lookedAtMs: null,
  watched: null,
  progress: null,
  eligibleSinceMs: new Map(),
  betterSince: null,
  firstLookMs: null,
  sites: null,
  ready: null,
  alarmed: null,
  fenced: null,
  failedFences: null,
  leftTo: null,
  successor: null,
};

/**
 * Memory older than this is dropped. A condition that was last observed so long ago may have ended and begun
 * again in the meantime.
 */
const remembersMs = 60_000;
/**
 * Longest time between two checks of the group while the elector is timing a condition. This keeps the
 * elector's memory from expiring.
 */
export const longestWaitMs = remembersMs / 2;

/** Returns `memory` updated with the current state of the group. */
export function look(observation: Observation, elected: Elected, memory: ElectorMemory): ElectorMemory {
  const { snapshot, nowMs } = observation;
  const { seat } = snapshot;
  const before = nowMs - (memory.lookedAtMs ?? nowMs) > remembersMs ? newElector : memory;
  const transition = observeTransition(observation, elected, before);
  const counts = before.sites?.seat === seat?.name ? before.sites?.counts : undefined;
  return {
    ...before,
    ...transition,
    lookedAtMs: nowMs,
    alarmed: transition.watched?.condition.kind === 'holding' ? before.alarmed : null,
    sites:
      seat === null || seat.below !== null
        ? null
        : { seat: seat.name, counts: countSites(observation, counts ?? new Map()) },
  };
}

/** How long the conditions of a choice have lasted. */
export interface Waits {
  /**
   * Returns how long a node has continuously been eligible, as observed by the caller. Returns Infinity in a
   * simulation.
   */
  eligibleForMs(node: string): number;
  /**
   * Returns how long a node has continuously been better than the elected node, as observed by the caller.
   * Returns Infinity in a simulation. Called only if scores are compared.
   */
  betterForMs(node: string): number;
  /** How long the caller has waited for the group's first election. Infinity in a simulation. */
  readonly lookedForMs: number;
  /**
   * How long the elected node has been READY, as observed by the caller. Null while the node is not READY. In
   * a simulation, the time since the READY claim was last written.
   */
  readonly readyForMs: number | null;
}

/** Returns how long each remembered condition has lasted. */
export function waitsOf(
  { members, nowMs }: Observation,
  { node: elected }: Elected,
  memory: ElectorMemory,
): Waits {
  const eligibleSinceMs = new Map(
    members.map((member) => [member.node, memory.eligibleSinceMs.get(incarnationKey(member))]),
  );
  return {
    eligibleForMs: (node) => nowMs - (eligibleSinceMs.get(node) ?? nowMs),
    betterForMs: (node) => betterForMs({ members, elected, nowMs }, node, memory.betterSince),
    lookedForMs: nowMs - (memory.firstLookMs ?? nowMs),
    readyForMs: memory.ready === null ? null : nowMs - memory.ready.sinceMs,
  };
}
