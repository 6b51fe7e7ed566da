/**
 * A node's own part in a transition: when to claim, take over, write READY, release, and delete the claim.
 * One pure function maps the node's latest reads and the stage of its leadership to the next step. If it
 * returns no step, the node waits.
 *
 * A leadership begins with a claim. It ends when the claim is gone and every process that it started is dead.
 * A leadership has these stages:
 *
 * - claimed: the claim exists, and nothing has been started yet
 * - taking-over: the takeover is running
 * - taken-over: the takeover has succeeded, but READY is not written yet
 * - leading: READY is written
 * - releasing: something must stop, so the takeover is aborted or the release is running
 * - released: no process of the leadership is running; the claim may still exist and must be deleted
 *
 * A departing leader waits until another node is elected, and then releases leadership. If the elector has
 * prepared the decision about the successor, the leader does not wait. It releases leadership, and puts that
 * decision into effect in the transaction that deletes its claim.
 *
 * A node never leads twice under one token. After a release, the node deletes the claim with the old token.
 * If it must lead again, it makes a new claim.
 */

import type { Lease } from '../lease/lease.js';
import type { GroupConfig } from '../model/group-config.js';
import type { Claim, GroupSnapshot, SessionId } from '../model/snapshot.js';
import type { Elected, FailureDetail, PreparedDecision } from '../model/znodes.js';
import { failureOf } from './backoff.js';
import { preparedDecision } from './prepared-decision.js';

export type Stage = 'claimed' | 'taking-over' | 'taken-over' | 'leading' | 'releasing' | 'released';

export interface Leadership {
  /** Fencing token of the claim. */
  readonly token: bigint;
  readonly term: number;
  readonly stage: Stage;
  /** Why the takeover failed. Null if it has not failed. */
  readonly failure: FailureDetail | null;
  /** Version of `elected` under which the claim was made. */
  readonly claimedUnder: number;
}

export type LeadershipAction =
  | { readonly do: 'prepare'; readonly elected: Elected; readonly electedVersion: number }
  | { readonly do: 'claim'; readonly elected: Elected; readonly electedVersion: number }
  /**
   * Adopts a claim that this node made without knowing it. The reply to the request that created the claim
   * was lost.
   */
  | {
      readonly do: 'adopt';
      readonly claim: Claim;
      readonly elected: Elected;
      readonly electedVersion: number;
    }
  | { readonly do: 'take-over'; readonly elected: Elected }
  | {
      readonly do: 'write-ready';
      readonly elected: Elected;
      readonly electedVersion: number;
      readonly claimVersion: number;
    }
  /**
   * Releases the leadership. `term` is the term of the decision that ends the leadership, or the leadership's
   * own term if no decision ends it.
   */
  | {
      readonly do: 'release';
      readonly term: number;
      readonly reason: string;
      readonly newLeader: string | null;
    }
  /** Deletes the claim and puts the prepared decision into effect, in one write. */
  | {
      readonly do: 'hand-over';
      readonly prepared: PreparedDecision;
      readonly successorVersion: number;
      readonly claimVersion: number;
    }
  | { readonly do: 'delete-claim'; readonly claimVersion: number; readonly failure: FailureDetail | null }
  | { readonly do: 'forget-leadership'; readonly why: string };

/**
 * Whether the step is a single write that names the versions on which it is based. Such a write does nothing
 * if any of these versions has changed.
 */
export function isChecked({ do: verb }: Pick<LeadershipAction, 'do'>): boolean {
  return verb === 'claim' || verb === 'write-ready' || verb === 'delete-claim' || verb === 'hand-over';
}

export interface LeadershipInput {
  readonly self: string;
  readonly session: SessionId;
  /** Whether the session that owns the claim has ended. If so, the claim no longer exists. */
  readonly sessionOver: boolean;
  /** Latest snapshot of the group. Null while the node is disconnected. */
  readonly snapshot: GroupSnapshot | null;
  readonly config: GroupConfig;
  readonly leadership: Leadership | null;
  /** Greatest token that has been used. All tokens up to this one count as used. */
  readonly spentToken: bigint;
  readonly lease: Lease;
  /** Current time on the same monotonic clock as the lease. */
  readonly nowMs: number;
  /**
   * Whether the node is healthy, according to the node itself. Its registration in the snapshot may be older.
   */
  readonly healthy: boolean;
  /** Whether the node is leaving. */
  readonly draining: boolean;
  /** Whether the node is leaving and no longer waits for a successor. */
  readonly drainOverdue: boolean;
  /**
   * Null if no prepare hook is configured. `doneUnder` is the version of `elected` under which the hook last
   * succeeded.
   */
  readonly prepare: { readonly doneUnder: number | null } | null;
  /**
   * True if this leadership must not end with the prepared decision. The reason is that a write of that
   * decision was refused, or that the release has not yet proven that the workload is dead.
   */
  readonly handOverRefused: boolean;
  /** Newest version of `elected` under which this node failed. Null if it has not failed. */
  readonly failedUnder: number | null;
}

/** Returns the next step. Null means that the node waits. */
export function leadershipStep(situation: LeadershipInput): LeadershipAction | null {
  const { leadership, snapshot } = situation;
  if (leadership === null) return snapshot === null ? null : withoutLeadership(situation, snapshot);
  switch (leadership.stage) {
    case 'releasing':
      return null;
    case 'released':
      return snapshot === null ? outOfTouch(situation) : afterRelease(situation, leadership, snapshot);
    default:
      return duringLeadership(situation, leadership);
  }
}

function ownClaim({ session }: LeadershipInput, snapshot: GroupSnapshot): Claim | null {
  return snapshot.current?.owner === session ? snapshot.current : null;
}

/** Returns why this node must not claim under the current decision. Returns null if it should claim. */
export function claimHindrance(situation: LeadershipInput, snapshot: GroupSnapshot): string | null {
  const { self, healthy, draining, failedUnder } = situation;
  const { elected, seat } = snapshot;
  if (elected.value === null) return 'leader/elected is malformed';
  if (elected.value.node !== self) return `${elected.value.node ?? 'no node'} is elected`;
  if (draining) return 'it is leaving';
  if (failedUnder === elected.version) return 'it failed under this decision';
  if (failureOf(elected.value.failures, self)?.until != null) return 'it is in backoff after a failure';
  if (seat === null) return 'it has no seat';
  // The decision may have been made for an earlier incarnation, so it does not take this incarnation's health
  // into account.
  const isUnhealthy = !healthy || snapshot.self?.value?.health.ok === false;
  return isUnhealthy && !elected.value.requested?.overridden.includes('unhealthy') ? 'it is unhealthy' : null;
}

function withoutLeadership(situation: LeadershipInput, snapshot: GroupSnapshot): LeadershipAction | null {
  const { spentToken, prepare, config } = situation;
  const ineligibleReason = claimHindrance(situation, snapshot);
  const own = ownClaim(situation, snapshot);
  const { elected } = snapshot;
  if (own !== null) {
    const fresh = own.token > spentToken && own.value?.status === 'PROGRESS';
    if (!fresh || ineligibleReason !== null || elected.value === null) {
      return { do: 'delete-claim', claimVersion: own.version, failure: null };
    }
    return { do: 'adopt', claim: own, elected: elected.value, electedVersion: elected.version };
  }
  if (ineligibleReason !== null || elected.value === null) return null;
  const mayPrepare = config.paused === null || snapshot.current === null;
  if (prepare !== null && prepare.doneUnder !== elected.version) {
    return mayPrepare ? { do: 'prepare', elected: elected.value, electedVersion: elected.version } : null;
  }
  if (snapshot.current !== null) return null;
  return { do: 'claim', elected: elected.value, electedVersion: elected.version };
}

/**
 * Returns the prepared decision that ends this leadership if the node is leaving. Until that decision takes
 * effect, other nodes need not know that the node is leaving. Returns null if the elector must decide.
 */
export function handsOverBy(situation: LeadershipInput): PreparedDecision | null {
  const { leadership, snapshot, draining, handOverRefused, self } = situation;
  if (!draining || handOverRefused || leadership === null || snapshot === null) return null;
  if (!ending.has(leadership.stage) || leadership.failure !== null) return null;
  const own = ownClaim(situation, snapshot);
  if (own === null || own.token !== leadership.token || own.value?.status !== 'READY') return null;
  return preparedDecision(snapshot, self);
}

const ending: ReadonlySet<Stage> = new Set<Stage>(['leading', 'releasing', 'released']);

function duringLeadership(situation: LeadershipInput, leadership: Leadership): LeadershipAction | null {
  const { snapshot } = situation;
  const end = whyEnd(situation, leadership);
  if (end !== null) {
    const elected = snapshot?.elected.value?.node ?? null;
    const next = handsOverBy(situation)?.decision.node ?? null;
    return { do: 'release', ...end, newLeader: elected === situation.self ? next : elected };
  }
  if (snapshot === null) return null;
  const own = ownClaim(situation, snapshot);
  const elected = decisionNow(snapshot, leadership, own);
  if (own === null || elected === null) return null;
  if (leadership.stage === 'claimed') return { do: 'take-over', elected };
  if (leadership.stage === 'taking-over') return null;
  const isPublished = own.value?.status === 'READY' && own.value.term === elected.term;
  if (leadership.stage === 'leading' && isPublished) return null;
  return {
    do: 'write-ready',
    elected,
    electedVersion: snapshot.elected.version,
    claimVersion: own.version,
  };
}

/**
 * Returns the current decision. Returns null if the decision is unreadable, or if it is older than the one
 * under which the leadership began. An older decision means that `elected` was lost and created again. The
 * elector knows the leadership's term from the claim and will decide under a later term. If the claim is also
 * lost, the elector does not know that term. A decision by the elector is then valid despite its lower term,
 * provided that it names a node.
 */
function decisionNow({ elected }: GroupSnapshot, leadership: Leadership, own: Claim | null): Elected | null {
  const { value } = elected;
  if (value === null || value.term >= leadership.term) return value;
  const isRepairable = own?.value != null && own.value.term > value.term;
  return isRepairable || value.node === null ? null : value;
}

interface Ending {
  readonly term: number;
  readonly reason: string;
}

/** Returns why the leadership must end, and under which term. Returns null if it need not end. */
function whyEnd(situation: LeadershipInput, leadership: Leadership): Ending | null {
  const reason = whyNotOn(situation, leadership);
  if (reason !== null) return { term: leadership.term, reason };
  const { snapshot, self } = situation;
  const elected = snapshot === null ? null : decisionNow(snapshot, leadership, ownClaim(situation, snapshot));
  if (elected === null) return null;
  const decided = whyReplaced(elected, self, leadership);
  return decided === null ? null : { term: elected.term, reason: decided };
}

/**
 * Returns what prevents the leadership from continuing, regardless of the decision. Returns null if nothing
 * prevents it.
 */
function whyNotOn(situation: LeadershipInput, leadership: Leadership): string | null {
  const { snapshot, lease, nowMs, draining, drainOverdue, config } = situation;
  if (situation.sessionOver) return 'the session has ended, and the claim with it';
  if (nowMs >= lease.releaseAtMs) return 'no connection to the ensemble: the lease was not renewed';
  if (leadership.failure !== null) return `${leadership.failure.phase} failed: ${leadership.failure.reason}`;
  if (drainOverdue) return 'shutting down without waiting any longer for a successor';
  if (snapshot === null) return null;
  const own = ownClaim(situation, snapshot);
  if (own === null || own.token !== leadership.token) return 'the claim leader/current is gone';
  if (draining && config.paused !== null) return 'shutting down while the group is paused';
  if (draining && leadership.stage === 'claimed') return 'shutting down before anything was started';
  const next = handsOverBy(situation);
  return next === null ? null : `shutting down, and ${next.decision.node} follows`;
}

function whyReplaced(elected: Elected, self: string, leadership: Leadership): string | null {
  if (elected.node === null) return `no node is elected: ${elected.reason}`;
  if (elected.node !== self) return `${elected.node} is elected: ${elected.reason}`;
  const backsOff = failureOf(elected.failures, self)?.until != null;
  return backsOff && leadership.stage !== 'leading'
    ? 'the transition watchdog put this node into backoff'
    : null;
}

function outOfTouch({ sessionOver }: LeadershipInput): LeadershipAction | null {
  return sessionOver
    ? { do: 'forget-leadership', why: 'its session has ended, and the claim with it' }
    : null;
}

function afterRelease(
  situation: LeadershipInput,
  leadership: Leadership,
  snapshot: GroupSnapshot,
): LeadershipAction {
  const own = ownClaim(situation, snapshot);
  if (own === null || own.token !== leadership.token) {
    return { do: 'forget-leadership', why: 'its claim is gone' };
  }
  const prepared = handsOverBy(situation);
  const { successor = null } = snapshot;
  if (prepared !== null && successor !== null)
    return {
      do: 'hand-over',
      prepared,
      successorVersion: successor.version,
      claimVersion: own.version,
    };
  return { do: 'delete-claim', claimVersion: own.version, failure: leadership.failure };
}
