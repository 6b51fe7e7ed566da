/**
 * What an elector saw and since when, by its own monotonic clock. A new elector has seen nothing; one that
 * was the next in line, and looked now and again, goes on from what it saw then.
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

/** What a claim is fenced, or removed, on: nothing is removed if any of it has moved. */
export interface Fence {
  readonly token: bigint;
  readonly node: string;
  readonly claimVersion: number;
  readonly electedVersion: number;
  /** The elected node's registration: a claim it made meanwhile has moved its version. */
  readonly electedNode: { readonly node: string; readonly version: number } | null;
}

export interface ElectorMemory {
  /** When it looked last; null: never. */
  readonly lookedAtMs: number | null;
  readonly watched: Watched | null;
  /** A claim in PROGRESS by the elected node, as last seen under one decision. */
  readonly progress: {
    readonly node: string;
    /**
     * This node's own seat when it saw the claim: in another it was not woken by what happened in between.
     */
    readonly seat: string;
    /** The decision it was made under, as `writeOf` tells it. */
    readonly decision: string;
    readonly token: bigint;
    /** Whose end makes the claim's end a failure. */
    readonly owner: SessionId;
    /**
     * It stands, and its owner is not registered: evicted, or gone since the claim was read, which the next
     * look tells.
     */
    readonly isOrphaned: boolean;
  } | null;
  /** Since when each life of a node has been eligible. */
  readonly eligibleSinceMs: ReadonlyMap<string, number>;
  /** Who has been better than the leader; null where no scores are compared. */
  readonly betterSince: BetterSince | null;
  /** Since when it has looked for the group's first election; null where that waits for nothing. */
  readonly firstLookMs: number | null;
  /**
   * Which sites have had nodes enough, or too few; null for who does not elect, who sees only now and again
   * what there is.
   */
  readonly sites: {
    /** This node's own seat when it counted: in another it was not woken by what happened in between. */
    readonly seat: string;
    readonly counts: SiteCounts;
  } | null;
  /** Since when the elected node has been READY under this token. */
  readonly ready: { readonly token: bigint; readonly sinceMs: number } | null;
  /** Token of the claim that an alarm was raised for. */
  readonly alarmed: bigint | null;
  /** The claim whose owner was fenced. */
  readonly fenced: Fence | null;
  /** How often the owner of a claim was to be fenced here, in vain. */
  readonly failedFences: { readonly token: bigint; readonly count: number } | null;
  /** Token of its own claim that it has left to another to judge. */
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

/** What was seen longer ago than this may have ended and begun again since. */
const remembersMs = 60_000;
/** While something is timed, a look is taken at least this often, so that it is not forgotten. */
export const longestWaitMs = remembersMs / 2;

export interface Scene {
  readonly snapshot: GroupSnapshot;
  readonly members: readonly Member[];
  readonly config: GroupConfig;
  /** Monotonic. */
  readonly nowMs: number;
}

/** What `memory` becomes by what is seen now. */
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
 * Kept after the claim is gone, until a decision answers it: the write of one may fail. Only of what the
 * elector itself saw: whoever looks now and again may miss that it became READY, of which nothing is left
 * when elector and leader die as one.
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
  // By the claim itself: whoever was evicted just now is not registered.
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

/** A restart between two looks begins a new life: the session, then, is another. */
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
