/**
 * A node's own part in a transition: when to claim, take over, say READY, release, and give the claim away.
 * One pure function from what the node read and where it stands to its next step; none: wait.
 *
 * A leadership begins with a claim and ends when the claim is gone and everything it started is dead. Its
 * stages:
 *
 *   claimed      the claim exists; nothing was started
 *   taking-over  the takeover runs
 *   taken-over   the takeover ended well; READY is not written yet
 *   leading      READY is written
 *   releasing    something must stop: the takeover is aborted, the release runs
 *   released     nothing of the leadership lives; the claim may still exist, and is to be deleted
 *
 * One token is never led under twice: what was released under a token is deleted, and claimed anew if it
 * comes to that.
 */

import type { GroupConfig } from '../model/group-config.js';
import type { Claim, GroupSnapshot, SessionId } from '../model/snapshot.js';
import type { Elected, FailureDetail } from '../model/znodes.js';
import { failureOf } from './backoff.js';
import type { Lease } from './lease.js';

export type Stage = 'claimed' | 'taking-over' | 'taken-over' | 'leading' | 'releasing' | 'released';

export interface Leadership {
  /** The fencing token. */
  readonly token: bigint;
  readonly term: number;
  readonly stage: Stage;
  /** What the takeover ended with, when it failed. */
  readonly failure: FailureDetail | null;
  /** Version of `elected` that the claim was made under. */
  readonly claimedUnder: number;
}

export type LeadershipAction =
  | { readonly do: 'prepare'; readonly elected: Elected; readonly electedVersion: number }
  | { readonly do: 'claim'; readonly elected: Elected; readonly electedVersion: number }
  /** The claim exists already: the reply to its making was lost. */
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
  /** `term`: of the decision that ends the leadership; its own where none does. */
  | {
      readonly do: 'release';
      readonly term: number;
      readonly reason: string;
      readonly newLeader: string | null;
    }
  | { readonly do: 'delete-claim'; readonly claimVersion: number; readonly failure: FailureDetail | null }
  | { readonly do: 'forget-leadership'; readonly why: string };

/**
 * One write does it, which names the versions that it was decided by: where they have changed, nothing is
 * done.
 */
export function isChecked({ do: verb }: LeadershipAction): boolean {
  return verb === 'claim' || verb === 'write-ready' || verb === 'delete-claim';
}

export interface LeadershipInput {
  readonly self: string;
  readonly session: SessionId;
  /** The session that the claim belongs to is over: the claim with it. */
  readonly sessionOver: boolean;
  /** Null while out of touch. */
  readonly snapshot: GroupSnapshot | null;
  readonly config: GroupConfig;
  readonly leadership: Leadership | null;
  /** Every token up to this one is spent. */
  readonly spentToken: bigint;
  readonly lease: Lease;
  /** Monotonic, as the lease. */
  readonly nowMs: number;
  /** As the node itself knows: what is read of it in the snapshot may be older. */
  readonly healthy: boolean;
  /** The node is leaving. */
  readonly draining: boolean;
  /** It is leaving, and nobody answered in time. */
  readonly drainOverdue: boolean;
  /** A prepare hook is configured and the version of `elected` under which it last succeeded. */
  readonly prepare: { readonly doneUnder: number | null } | null;
  /** Newest version of `elected` under which this node failed. */
  readonly failedUnder: number | null;
}

/** The next step, or null to wait. */
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

/** Why this node must not claim under what `elected` says; null when it should. */
export function claimHindrance(situation: LeadershipInput, snapshot: GroupSnapshot): string | null {
  const { self, healthy, draining, failedUnder } = situation;
  const { elected, seat } = snapshot;
  if (elected.value === null) return 'leader/elected is malformed';
  if (elected.value.node !== self) return `${elected.value.node ?? 'no node'} is elected`;
  if (draining) return 'it is leaving';
  if (failedUnder === elected.version) return 'it failed under this decision';
  if (failureOf(elected.value.failures, self)?.until != null) return 'it is in backoff after a failure';
  if (seat === null) return 'it has no seat';
  // A decision made for an earlier life does not know how this one is.
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

function duringLeadership(situation: LeadershipInput, leadership: Leadership): LeadershipAction | null {
  const { snapshot } = situation;
  const ending = whyEnd(situation, leadership);
  if (ending !== null) {
    const candidate = snapshot?.elected.value?.node ?? null;
    return { do: 'release', ...ending, newLeader: candidate === situation.self ? null : candidate };
  }
  if (snapshot === null) return null;
  const own = ownClaim(situation, snapshot);
  const elected = decisionNow(snapshot, leadership, own);
  if (own === null || elected === null) return null;
  if (leadership.stage === 'claimed') return { do: 'take-over', elected };
  if (leadership.stage === 'taking-over') return null;
  const isTold = own.value?.status === 'READY' && own.value.term === elected.term;
  if (leadership.stage === 'leading' && isTold) return null;
  return {
    do: 'write-ready',
    elected,
    electedVersion: snapshot.elected.version,
    claimVersion: own.version,
  };
}

/**
 * Null where it cannot be read, or is older than what the leadership began under: lost, and made anew. The
 * elector knows the term from the claim, and will decide under a later one. Where it cannot, the claim being
 * lost too, it has decided as well as it could, and that stands.
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

/** Why the leadership has to end, and by which term's decision; null while it need not. */
function whyEnd(situation: LeadershipInput, leadership: Leadership): Ending | null {
  const reason = whyNotOn(situation, leadership);
  if (reason !== null) return { term: leadership.term, reason };
  const { snapshot, self } = situation;
  const elected = snapshot === null ? null : decisionNow(snapshot, leadership, ownClaim(situation, snapshot));
  if (elected === null) return null;
  const decided = whyReplaced(elected, self, leadership);
  return decided === null ? null : { term: elected.term, reason: decided };
}

/** What there is against going on, whatever is decided. */
function whyNotOn(situation: LeadershipInput, leadership: Leadership): string | null {
  const { snapshot, lease, nowMs, draining, drainOverdue, config } = situation;
  if (situation.sessionOver) return 'the session has ended, and the claim with it';
  if (nowMs >= lease.releaseAtMs) return 'no connection to the ensemble: the lease was not renewed';
  if (leadership.failure !== null) return `${leadership.failure.phase} failed: ${leadership.failure.reason}`;
  if (drainOverdue) return 'shutting down without waiting for a successor any longer';
  if (snapshot === null) return null;
  const own = ownClaim(situation, snapshot);
  if (own === null || own.token !== leadership.token) return 'the claim leader/current is gone';
  if (draining && config.paused !== null) return 'shutting down while the group is paused';
  return draining && leadership.stage === 'claimed' ? 'shutting down before anything was started' : null;
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
  return { do: 'delete-claim', claimVersion: own.version, failure: leadership.failure };
}
