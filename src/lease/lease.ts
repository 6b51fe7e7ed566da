/**
 * The arithmetic of the lease: how long a node may act as leader without a renewal.
 *
 * What a committed write proves: Every request is a heartbeat of its session, but the heartbeat does not
 * reach the ensemble's leader with the request itself. The server that received the request reports the
 * heartbeat in its next ping reply to that leader, at most tickTime/2 later. Ping replies and forwarded
 * writes use the same ordered stream. A committed write therefore proves only those heartbeats that had
 * *arrived* at the server at least tickTime/2 before the write arrived there.
 *
 * This module counts a heartbeat as proven if it was *answered* at least a quarter of the session timeout T
 * before the write was sent. An answered heartbeat has arrived at the server, and T/4 >= tickTime/2 as long
 * as the ensemble's minimum session timeout is at least two ticks. This gap starts at the answer, although
 * the lease itself starts when the heartbeat was sent. If the gap also started when the heartbeat was sent,
 * the proof would hold only if the network did not delay the heartbeat more than the write.
 *
 * A connect handshake that opens a session is itself a committed write, so the time at which it was sent
 * counts. A handshake that resumes a session is confirmed by the ensemble's leader alone. That leader may
 * have been deposed without knowing it yet. Such a handshake counts only once a write has committed on the
 * same connection. A server that loses its leader disconnects its clients, so a commit proves that the
 * current leader confirmed the handshake.
 *
 * In this module, the session timeout is the shortest timeout that any server has ever granted to the
 * session. Servers may differ in their limits, and a new leader of the ensemble reverts to the timeout with
 * which the session was created. It is also possible that a server resumed the session with a shorter timeout
 * but its answer was lost. Therefore, once a handshake to resume the session has been sent, only half the
 * timeout applies until a write commits.
 *
 * Not promised: that the lease is safe if one server grants less than half of what another grants. Also not
 * promised: that the lease is safe after a late handshake. A server may process an abandoned handshake after
 * a write on a newer connection has committed, and may then grant a shorter timeout. Nor is it promised that
 * a guardian knows the shorter lease at once: the agent reports it with its next renewal.
 *
 * All instants are milliseconds on one monotonic clock.
 */
import { answered, noTouch, type Touch } from './touch.js';

/** A request that the ensemble has answered on the current connection. */
export interface AnsweredRequest {
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
}

export interface LeaseEvidence {
  /**
   * Newest instant from which the session is proven to last for a full timeout. -Infinity if there is none.
   */
  readonly provenAtMs: number;
  /**
   * Answered requests on the current connection, oldest first. Requests that can no longer matter are
   * omitted.
   */
  readonly answered: readonly AnsweredRequest[];
  /**
   * Instant at which the handshake of the current connection was sent. The handshake proves nothing until a
   * write has committed.
   */
  readonly handshakeSentAtMs: number;
  /**
   * Earliest instant at which a server may have resumed the session with a shorter timeout. This client would
   * not know that timeout, because the server's answer was lost. Infinity if this cannot have happened.
   */
  readonly doubtedSinceMs: number;
  readonly touch: Touch;
}

/** Value for a node without a lease. */
export const noLease: Lease = {
  releaseAtMs: Number.NEGATIVE_INFINITY,
  endsAtMs: Number.NEGATIVE_INFINITY,
};

export const noEvidence: LeaseEvidence = {
  provenAtMs: Number.NEGATIVE_INFINITY,
  answered: [],
  handshakeSentAtMs: Number.NEGATIVE_INFINITY,
  doubtedSinceMs: Number.POSITIVE_INFINITY,
  touch: noTouch,
};

/** Returns the evidence after a handshake has opened the session. The handshake was sent at `sentAtMs`. */
export function sessionOpened(sentAtMs: number): LeaseEvidence {
  return { ...noEvidence, provenAtMs: sentAtMs, handshakeSentAtMs: sentAtMs };
}

/**
 * Records that a handshake was sent to resume the session. The ensemble may resume the session even if its
 * answer is lost.
 */
export function resumptionSent(evidence: LeaseEvidence, sentAtMs: number): LeaseEvidence {
  return { ...evidence, doubtedSinceMs: Math.min(evidence.doubtedSinceMs, sentAtMs) };
}

/**
 * Records that a handshake sent at `sentAtMs` resumed the session. The answered requests belong to the old
 * connection and are dropped, but the proven instant is kept. `shrunkMs` is the shortest earlier timeout
 * minus the newly granted timeout. If it is positive, the lease ends at the earlier of two instants: its
 * previous end, and the end of a lease that starts at the handshake.
 */
export function sessionResumed(evidence: LeaseEvidence, sentAtMs: number, shrunkMs: number): LeaseEvidence {
  const { provenAtMs: was } = evidence;
  const provenAtMs = shrunkMs <= 0 ? was : Math.min(was + leaseShare * shrunkMs, Math.max(was, sentAtMs));
  return { ...evidence, provenAtMs, answered: [], handshakeSentAtMs: sentAtMs };
}

/**
 * Records that a request of any kind, including a ping, was answered. Drops entries older than the session
 * timeout, and keeps only one of several requests that were sent close together. What counts is when the
 * requests were sent, not when they were answered. After a stall, an old request is answered together with a
 * new one, and the new one proves more.
 */
export function requestAnswered(
  evidence: LeaseEvidence,
  request: AnsweredRequest,
  sessionTimeoutMs: number,
): LeaseEvidence {
  const newest = evidence.answered.at(-1);
  const apartMs = request.sentAtMs - (newest?.sentAtMs ?? Number.NEGATIVE_INFINITY);
  if (apartMs < sessionTimeoutMs * evidenceShare) return evidence;
  const oldest = request.answeredAtMs - sessionTimeoutMs;
  const kept = evidence.answered.filter((entry) => entry.answeredAtMs >= oldest);
  const touch = answered(evidence.touch, request.answeredAtMs, sessionTimeoutMs);
  return { ...evidence, answered: [...kept, request], touch };
}

/**
 * Records that a write sent at `sentAtMs` was committed. The commit proves that the ensemble's leader has
 * received the connection's handshake. It also proves that this leader has received every heartbeat that was
 * answered at least T/4 before the write was sent. T is the session timeout.
 */
export function writeCommitted(
  evidence: LeaseEvidence,
  sentAtMs: number,
  sessionTimeoutMs: number,
): LeaseEvidence {
  const limit = sentAtMs - sessionTimeoutMs * proofGap;
  let provenAtMs = Math.max(evidence.provenAtMs, evidence.handshakeSentAtMs);
  for (const entry of evidence.answered) {
    if (entry.answeredAtMs <= limit) provenAtMs = Math.max(provenAtMs, entry.sentAtMs);
  }
  return { ...evidence, provenAtMs, doubtedSinceMs: Number.POSITIVE_INFINITY };
}

/**
 * Returns the newest instant from which the session is proven to last for a full timeout. While the timeout
 * is in doubt, the result may be an earlier instant. A lease must then end no later than half a lease length
 * after the handshake that caused the doubt.
 */
export function provenAlive({ provenAtMs, doubtedSinceMs }: LeaseEvidence, sessionTimeoutMs: number): number {
  return Math.min(provenAtMs, doubtedSinceMs - sessionTimeoutMs * leaseShare * doubtShare);
}

/**
 * Whether the lease of a claim that is sent now would last until its renewal. The renewal proves the next
 * heartbeat. After a stall, the lease would not last: heartbeats from before the stall are too old, and later
 * ones are too recent to be proven yet.
 */
export function lastsToRenewal(evidence: LeaseEvidence, nowMs: number, sessionTimeoutMs: number): boolean {
  const { provenAtMs } = writeCommitted(evidence, nowMs, sessionTimeoutMs);
  const next = evidence.answered.find((entry) => entry.sentAtMs > provenAtMs)?.answeredAtMs ?? nowMs;
  const provableAtMs = Math.max(nowMs, next + sessionTimeoutMs * proofGap);
  const { releaseAtMs } = leaseFrom(provenAtMs, sessionTimeoutMs);
  return provableAtMs + sessionTimeoutMs * renewShare < releaseAtMs;
}

/** Share of the session timeout by which a heartbeat must precede the write that proves it. */
const proofGap = 1 / 4;
/**
 * Smallest timeout that a server is assumed to have granted in a lost answer, as a share of the session
 * timeout.
 */
const doubtShare = 1 / 2;
/** Share of the session timeout within which only one request is kept as evidence. */
const evidenceShare = 1 / 100;
/**
 * Share of the session timeout for which a lease lasts. The remainder allows for clock rates that differ by
 * up to 10 %.
 */
const leaseShare = 0.9;
/**
 * Share of the session timeout that is reserved at the end of a lease for the release and for killing the
 * workload.
 */
const reserveShare = 0.2;
/**
 * Interval between renewals as a share of the session timeout. It does not depend on the success of earlier
 * renewals. In normal operation, the age of a lease therefore never exceeds the sum of the proof gap, two
 * intervals, and two round trips.
 */
const renewShare = 1 / 12;
/**
 * Share of the session timeout for which a server may leave a renewal unanswered. After that, the client
 * switches to another server. That server can still answer before the node must begin its release.
 */
const serverPatienceShare = 1 / 6;
/** Interval between the heartbeats of an idle node, as a share of the session timeout. */
const pingShare = 1 / 4;

export interface Lease {
  /** Instant from which the node must not act as leader. Its workload must be dead by then. */
  readonly endsAtMs: number;
  /**
   * Instant at which the node begins its release if the lease has not been renewed. It is early enough for
   * the release to finish before the lease ends.
   */
  readonly releaseAtMs: number;
}

export function leaseFrom(provenAtMs: number, sessionTimeoutMs: number): Lease {
  const endsAtMs = provenAtMs + sessionTimeoutMs * leaseShare;
  return { endsAtMs, releaseAtMs: endsAtMs - sessionTimeoutMs * reserveShare };
}

/** Returns the time between the starts of consecutive renewals. */
export function renewalIntervalMs(sessionTimeoutMs: number): number {
  return sessionTimeoutMs * renewShare;
}

/** Returns the time for which a server may leave a renewal unanswered. */
export function serverPatienceMs(sessionTimeoutMs: number): number {
  return sessionTimeoutMs * serverPatienceShare;
}

/**
 * Returns the longest time for which a connected client sends nothing. It is short enough for a new claim to
 * start with a useful lease.
 */
export function pingIntervalMs(sessionTimeoutMs: number): number {
  return sessionTimeoutMs * pingShare;
}
