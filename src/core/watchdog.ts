/**
 * The transition watchdog: what blocks a transition, since when, and which node is responsible. It also
 * remembers the claim that is in PROGRESS or READY. Times start when this elector first observes the
 * condition. A candidate is therefore not blamed for an old leader that released late, or for an elector that
 * crashed. A new incarnation is not blamed for the omissions of an earlier one.
 */
import { durationMs } from '../model/duration.js';
import type { GroupConfig } from '../model/group-config.js';
import {
  claimOwner,
  type GroupSnapshot,
  type Member,
  ownerName,
  readyNode,
  type SessionId,
  writeOf,
} from '../model/snapshot.js';
import type { Elected } from '../model/znodes.js';

export type Condition =
  /** The node is elected and `current` is free, but the node has not claimed yet. */
  | { readonly kind: 'unclaimed'; readonly node: string }
  /** The elected node has claimed but is not READY yet. */
  | { readonly kind: 'taking-over'; readonly node: string }
  /** A node other than the elected one owns `current`. The candidate is never blamed for this. */
  | { readonly kind: 'holding'; readonly node: string | null };

export interface Watched {
  readonly condition: Condition;
  /** Distinguishes this condition from an earlier or later one of the same kind. */
  readonly key: string;
  /** Monotonic instant at which this elector first observed the condition. */
  readonly firstMs: number;
  /**
   * The session that is responsible for the condition. A new incarnation of the node gets the full time limit
   * again, but the total time is limited.
   */
  readonly session: SessionId | null;
  /** Instant at which this elector first observed the condition for this session. */
  readonly sinceMs: number;
  readonly limitMs: number;
}

export interface Observation {
  readonly snapshot: GroupSnapshot;
  readonly members: readonly Member[];
  readonly config: GroupConfig;
  /** Current time on this node's monotonic clock. */
  readonly nowMs: number;
}

/** The claim that was last observed in PROGRESS while its owner was the elected node. */
export interface Progress {
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
}

/**
 * The claim with which the elected node is READY, and the monotonic instant at which the node was first
 * observed to be READY.
 */
export interface Ready {
  readonly token: bigint;
  readonly sinceMs: number;
}

/** A transition as an elector has observed it. */
export interface ObservedTransition {
  readonly watched: Watched | null;
  readonly progress: Progress | null;
  readonly ready: Ready | null;
}

/** Returns `before`, updated with the snapshot. A condition that still applies keeps its start time. */
export function observeTransition(
  observation: Observation,
  elected: Elected,
  before: ObservedTransition,
): ObservedTransition {
  const { snapshot, config, nowMs } = observation;
  const watched = watch(snapshot, elected, config, before.watched, nowMs);
  return {
    watched,
    progress: progressSeen(observation, watched, before.progress),
    ready: readySeen(observation, elected, before.ready),
  };
}

/**
 * Returns the condition that applies in `snapshot`. If it is the same condition as `before`, it keeps its
 * start time.
 */
export function watch(
  snapshot: GroupSnapshot,
  elected: Elected,
  config: GroupConfig,
  before: Watched | null,
  nowMs: number,
): Watched | null {
  const { members } = snapshot;
  const condition = conditionOf(snapshot, elected, config);
  if (condition === null) return null;
  const responsible = members?.find(({ node }) => node === condition.node) ?? null;
  const key = keyOf(condition, responsible, snapshot);
  const session = responsible?.owner ?? null;
  const known = before?.key === key ? before : null;
  const firstMs = known?.firstMs ?? nowMs;
  const sinceMs =
    known !== null && (condition.kind === 'holding' || known.session === session) ? known.sinceMs : nowMs;
  return { condition, key, firstMs, session, sinceMs, limitMs: limitMs(condition, config) };
}

/**
 * Returns a key that identifies the condition. A claim that is still held counts as the same condition,
 * regardless of any decision about the next leader. For an elected node, the key contains the token of its
 * last claim, because the node may have made a claim, led, and lost the claim between two checks. If
 * `current` is free, the token comes from the node's registration. If the node has restarted since then, the
 * token comes from the history.
 */
function keyOf(
  { kind, node }: Condition,
  responsible: Member | null,
  { elected, current, history }: GroupSnapshot,
): string {
  if (kind === 'holding') return `${kind} ${current?.token}`;
  const recorded = history?.value?.fencingToken ?? 'none';
  const token = current?.token ?? responsible?.value?.lastTakeover?.token ?? recorded;
  return `${kind} ${node} ${writeOf(elected)} ${token}`;
}

function conditionOf(
  { current, members }: GroupSnapshot,
  elected: Elected,
  config: GroupConfig,
): Condition | null {
  const known = members ?? [];
  const candidate = known.find(({ node }) => node === elected.node) ?? null;
  if (current === null) {
    const waits = candidate !== null && config.paused === null;
    return waits ? { kind: 'unclaimed', node: candidate.node } : null;
  }
  const owner = claimOwner(current, known);
  if (owner === null || owner.node !== elected.node) {
    return { kind: 'holding', node: ownerName(current, known) };
  }
  return current.value?.status === 'READY' ? null : { kind: 'taking-over', node: owner.node };
}

/**
 * Returns the time limit of a condition. A node ends its own attempt at its hook's timeout and reports why,
 * so the watchdog allows more time than this timeout.
 */
function limitMs(condition: Condition, { timeouts }: GroupConfig): number {
  const graceMs = durationMs(timeouts.grace);
  switch (condition.kind) {
    case 'unclaimed':
      return durationMs(timeouts.claim);
    case 'taking-over':
      return durationMs(timeouts.takeover) + 2 * graceMs;
    case 'holding':
      return durationMs(timeouts.release) + 2 * graceMs;
  }
}

/**
 * Maximum total duration of a condition, as a multiple of its time limit. It applies no matter how often the
 * responsible node restarts.
 */
const mostLimits = 2;

/**
 * Returns the time by which the condition has exceeded its time limit. The result is negative as long as the
 * limit has not been exceeded.
 */
export function overdueMs({ firstMs, sinceMs, limitMs }: Watched, nowMs: number): number {
  return nowMs - Math.min(sinceMs + limitMs, firstMs + mostLimits * limitMs);
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
  before: Progress | null,
): Progress | null {
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
  before: Ready | null,
): Ready | null {
  const { current } = snapshot;
  if (current === null || node === null || readyNode(current, members) !== node) return null;
  return before?.token === current.token ? before : { token: current.token, sinceMs: nowMs };
}
