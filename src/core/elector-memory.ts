/**
 * The elector's memory: what an elector has observed, and when each observation started on the elector's own
 * monotonic clock. The memory of a new elector is empty, unless the node was the next elector before. In that
 * case, the memory contains what the node observed in its periodic checks of the group.
 */

import type { GroupConfig } from '../model/group-config.js';
import {
  type GroupSnapshot,
  incarnationKey,
  type Member,
  ownerName,
  readyNode,
  type SessionId,
  writeOf,
} from '../model/snapshot.js';
import type { Elected, Successor } from '../model/znodes.js';
import { type Judged, ownIneligibleReasons } from './constraint.js';
import { countSites, type SiteCounts } from './site-rules.js';
import type { BetterSince } from './stabilization.js';
import { type Watched, watch } from './watchdog.js';

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

export interface ElectorMemory {
  /** Monotonic instant of the elector's last check. Null if there has been none. */
  readonly lookedAtMs: number | null;
  readonly watched: Watched | null;
  /**
   * The claim that was last observed in PROGRESS while its owner was the elected node. Null if there is none.
   */
  readonly progress: {
    readonly node: string;
    /**
     * This node's seat when it observed the claim. If this node has a different seat now, it may have missed
     * events since then.
     */
    readonly seat: string;
    /** The decision under which the claim was made, as identified by `writeOf`. */
    readonly decision: string;
    readonly token: bigint;
    /**
     * The session that owns the claim. If the claim disappears together with this session, the takeover has
     * failed.
     */
    readonly owner: SessionId;
    /**
     * Whether the claim exists but its owner is not registered. Either the owner was evicted, or it
     * disappeared after the claim was read. The next check shows which.
     */
    readonly isOrphaned: boolean;
  } | null;
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
  /**
   * The claim with which the elected node is READY, and the monotonic instant at which the node was first
   * observed to be READY.
   */
  readonly ready: { readonly token: bigint; readonly sinceMs: number } | null;
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

export interface Observation {
  readonly snapshot: GroupSnapshot;
  readonly members: readonly Member[];
  readonly config: GroupConfig;
  /** Current time on this node's monotonic clock. */
  readonly nowMs: number;
}

/** Returns `memory` updated with the current state of the group. */
export function look(observation: Observation, elected: Elected, memory: ElectorMemory): ElectorMemory {
  const { snapshot, config, nowMs } = observation;
  const before = nowMs - (memory.lookedAtMs ?? nowMs) > remembersMs ? newElector : memory;
  const watched = watch(snapshot, elected, config, before.watched, nowMs);
  return {
    lookedAtMs: nowMs,
    eligibleSinceMs: before.eligibleSinceMs,
    betterSince: before.betterSince,
    firstLookMs: before.firstLookMs,
    sites: sitesSeen(observation, before.sites),
    watched,
    progress: progressSeen(observation, watched, before.progress),
    ready: readySeen(observation, elected, before.ready),
    alarmed: watched?.condition.kind === 'holding' ? before.alarmed : null,
    fenced: before.fenced,
    failedFences: before.failedFences,
    leftTo: before.leftTo,
    successor: before.successor,
  };
}

function sitesSeen(observation: Observation, before: ElectorMemory['sites']): ElectorMemory['sites'] {
  const { seat } = observation.snapshot;
  if (seat === null || seat.below !== null) return null;
  const counts = before?.seat === seat.name ? before.counts : new Map();
  return { seat: seat.name, counts: countSites(observation, counts) };
}

/**
 * Returns the claim that was seen in PROGRESS. The elector remembers this claim, even after it is gone, until
 * a decision that responds to it has been written. That write may fail. Nodes other than the elector do not
 * remember the claim: they check the group only from time to time, and may not see that it became READY. If
 * the elector and the leader then failed together, nothing would show that the claim was READY, and the
 * takeover would seem to have failed.
 */
function progressSeen(
  { snapshot, members }: Observation,
  watched: Watched | null,
  before: ElectorMemory['progress'],
): ElectorMemory['progress'] {
  const { current, seat } = snapshot;
  if (seat === null || seat.below !== null) return null;
  const decision = writeOf(snapshot.elected);
  // A node that was just evicted is not registered, but its claim names it.
  if (current?.value?.status === 'READY' && ownerName(current, members) === before?.node) return null;
  if (before?.decision === decision && before.seat === seat.name) {
    const isOrphaned =
      current?.token === before.token && !members.some(({ owner }) => owner === before.owner);
    return { ...before, isOrphaned };
  }
  if (current === null || watched?.condition.kind !== 'taking-over') return null;
  const { token, owner } = current;
  return { node: watched.condition.node, seat: seat.name, decision, token, owner, isOrphaned: false };
}

function readySeen(
  { snapshot, members, nowMs }: Observation,
  { node }: Elected,
  before: ElectorMemory['ready'],
): ElectorMemory['ready'] {
  const { current } = snapshot;
  if (current === null || node === null || readyNode(current, members) !== node) return null;
  return before?.token === current.token ? before : { token: current.token, sinceMs: nowMs };
}

/**
 * Returns the instant at which each incarnation became eligible. A node that restarts between two checks has
 * a new incarnation with a different session, so its time starts over.
 */
export function eligibleSince(
  judged: readonly Judged[],
  before: ElectorMemory['eligibleSinceMs'],
  nowMs: number,
): ElectorMemory['eligibleSinceMs'] {
  const eligible = judged.filter((one) => ownIneligibleReasons(one).length === 0);
  return new Map(
    eligible
      .map(({ member }) => incarnationKey(member))
      .map((incarnation) => [incarnation, before.get(incarnation) ?? nowMs]),
  );
}
