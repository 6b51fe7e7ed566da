/**
 * What an elector has seen and since when, on its own monotonic clock. A new elector has seen nothing. One
 * that was the next elector and looked periodically continues from what it saw then.
 */

import type { GroupConfig } from '../model/group-config.js';
import {
  type GroupSnapshot,
  incarnationKey,
  type Member,
  readyNode,
  type SessionId,
  writeOf,
} from '../model/snapshot.js';
import type { Elected } from '../model/znodes.js';
import { type Judged, ownIneligibleReasons } from './constraint.js';
import { countSites, type SiteCounts } from './site-rules.js';
import type { BetterSince } from './stabilization.js';
import { type Watched, watch } from './watchdog.js';

/** The state on which a claim is fenced or removed. Nothing is removed if any part of it has changed. */
export interface Fence {
  readonly token: bigint;
  readonly node: string;
  readonly claimVersion: number;
  readonly electedVersion: number;
  /**
   * Version of the elected node's registration. A claim that the node has made since then changes this
   * version.
   */
  readonly electedNode: { readonly node: string; readonly version: number } | null;
}

export interface ElectorMemory {
  /** When it last looked. Null if it never has. */
  readonly lookedAtMs: number | null;
  readonly watched: Watched | null;
  /** A claim in PROGRESS by the elected node, as last seen under one decision. */
  readonly progress: {
    readonly node: string;
    /**
     * This node's seat when it saw the claim. With a different seat, the node may have missed events in
     * between.
     */
    readonly seat: string;
    /** The decision that the claim was made under, as `writeOf` identifies it. */
    readonly decision: string;
    readonly token: bigint;
    /** The session that owns the claim. If the claim disappears with it, the takeover has failed. */
    readonly owner: SessionId;
    /**
     * Whether the claim exists but its owner is not registered. The owner was evicted, or has gone since the
     * claim was read. The next look shows which.
     */
    readonly isOrphaned: boolean;
  } | null;
  /** Instant since which each incarnation of a node has been eligible. */
  readonly eligibleSinceMs: ReadonlyMap<string, number>;
  /** Which nodes have been better than the leader. Null if no scores are compared. */
  readonly betterSince: BetterSince | null;
  /**
   * Instant since which it has waited for the group's first election. Null if that election waits for
   * nothing.
   */
  readonly firstLookMs: number | null;
  /**
   * Which sites have had enough nodes, or too few. Null on a node that is not the elector, because it
   * observes the group only from time to time.
   */
  readonly sites: {
    /**
     * This node's seat when it counted. With a different seat, the node may have missed events in between.
     */
    readonly seat: string;
    readonly counts: SiteCounts;
  } | null;
  /** Instant since which the elected node has been READY under this token. */
  readonly ready: { readonly token: bigint; readonly sinceMs: number } | null;
  /** Token of the claim that an alarm was raised for. */
  readonly alarmed: bigint | null;
  /** The claim whose owner was fenced. */
  readonly fenced: Fence | null;
  /** How many times fencing the owner of a claim has failed on this node. */
  readonly failedFences: { readonly token: bigint; readonly count: number } | null;
  /** Token of this node's own claim that it has left to another elector to judge. */
  readonly leftTo: bigint | null;
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
};

/** A condition that was seen longer ago than this may have ended and begun again since. */
const remembersMs = 60_000;
/** While something is timed, the elector looks at least this often, so that its memory does not expire. */
export const longestWaitMs = remembersMs / 2;

export interface Scene {
  readonly snapshot: GroupSnapshot;
  readonly members: readonly Member[];
  readonly config: GroupConfig;
  /** Monotonic. */
  readonly nowMs: number;
}

/** Returns `memory` updated with the current state. */
export function look(scene: Scene, elected: Elected, memory: ElectorMemory): ElectorMemory {
  const { snapshot, config, nowMs } = scene;
  const before = nowMs - (memory.lookedAtMs ?? nowMs) > remembersMs ? newElector : memory;
  const { current } = snapshot;
  const watched = watch(snapshot, elected, config, before.watched, nowMs);
  const isHeld = watched?.condition.kind === 'holding';
  return {
    lookedAtMs: nowMs,
    eligibleSinceMs: before.eligibleSinceMs,
    betterSince: before.betterSince,
    firstLookMs: before.firstLookMs,
    sites: sitesSeen(scene, before.sites),
    watched,
    progress: progressSeen(scene, elected, watched, before.progress),
    ready: readySeen(scene, elected, before.ready),
    alarmed: isHeld && before.alarmed === current?.token ? before.alarmed : null,
    fenced: before.fenced,
    failedFences: before.failedFences,
    leftTo: before.leftTo,
  };
}

function sitesSeen(scene: Scene, before: ElectorMemory['sites']): ElectorMemory['sites'] {
  const { seat } = scene.snapshot;
  if (seat === null || seat.below !== null) return null;
  const counts = before?.seat === seat.name ? before.counts : new Map();
  return { seat: seat.name, counts: countSites(scene, counts) };
}

/**
 * Returns the observed claim in PROGRESS. It is kept after the claim is gone until a decision answers it,
 * because the write of that decision may fail. Only the elector keeps it. A node that looks only from time to
 * time may miss that the claim became READY. If elector and leader fail together, no trace of that remains.
 */
function progressSeen(
  { snapshot, members }: Scene,
  elected: Elected,
  watched: Watched | null,
  before: ElectorMemory['progress'],
): ElectorMemory['progress'] {
  const { current, seat } = snapshot;
  if (seat === null || seat.below !== null) return null;
  const decision = writeOf(snapshot.elected);
  if (isReady(snapshot, members, elected)) return null;
  // Use the node that the claim names: a node that was just evicted is not registered.
  const isOver = before !== null && current?.value?.status === 'READY' && current.value.node === before.node;
  if (isOver) return null;
  if (before?.decision === decision && before.seat === seat.name) {
    const stands = current?.token === before.token && !members.some(({ owner }) => owner === before.owner);
    return before.isOrphaned === stands ? before : { ...before, isOrphaned: stands };
  }
  if (current === null || watched?.condition.kind !== 'taking-over') return null;
  const { token, owner } = current;
  return { node: watched.condition.node, seat: seat.name, decision, token, owner, isOrphaned: false };
}

function readySeen(
  { snapshot, members, nowMs }: Scene,
  elected: Elected,
  before: ElectorMemory['ready'],
): ElectorMemory['ready'] {
  const { current } = snapshot;
  if (current === null || !isReady(snapshot, members, elected)) return null;
  return before?.token === current.token ? before : { token: current.token, sinceMs: nowMs };
}

function isReady({ current }: GroupSnapshot, members: readonly Member[], { node }: Elected): boolean {
  return node !== null && readyNode(current, members) === node;
}

/**
 * Returns since when each incarnation has been eligible. A restart between two looks begins a new
 * incarnation, which has a different session.
 */
export function eligibleSince(
  judged: readonly Judged[],
  before: ElectorMemory['eligibleSinceMs'],
  nowMs: number,
): ElectorMemory['eligibleSinceMs'] {
  const eligible = judged.filter((one) => ownIneligibleReasons(one).length === 0);
  return new Map(
    eligible.map(({ member }) => incarnationKey(member)).map((life) => [life, before.get(life) ?? nowMs]),
  );
}
