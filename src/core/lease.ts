/**
 * The arithmetic of the lease: until when a node may act as leader without a renewal.
 *
 * What a committed write proves. A session's sign of life does not reach the ensemble's leader with the
 * request itself. It arrives with its server's next ping reply, at most tickTime/2 later, on the same ordered
 * stream as the forwarded write. So a committed write proves only the signs of life that had *arrived* at the
 * server tickTime/2 before the write did. Here, a sign counts if it was *answered* at least a quarter of the
 * session timeout T before the write was sent. If it was answered, it had arrived, and T/4 >= tickTime/2
 * while the ensemble keeps its minimum session timeout of two ticks. Counting from the time the sign was sent
 * would assume that the network did not delay it more than the write.
 *
 * A connect handshake that opens a session is itself a committed write, so its own sending time counts. A
 * handshake that resumes a session is confirmed by the ensemble's leader alone, possibly by one that was
 * deposed and does not know it yet. It counts once anything is committed on the same connection. A server
 * that loses its leader disconnects its clients, so the handshake was then confirmed by the current leader.
 *
 * The session timeout is the smallest that any server ever granted to the session. Servers may differ in
 * their limits, and a new leader of the ensemble again uses the timeout from the session's creation. A server
 * may also have resumed the session with a smaller timeout, and its answer been lost. So half the timeout
 * applies from that handshake until a write commits.
 *
 * Not promised: anything if one server grants less than half of what another does. Nor is anything promised
 * if a server that grants less carries out an abandoned handshake late, after a write on a newer connection
 * has committed.
 *
 * All instants are milliseconds on one monotonic clock.
 */
import { heard, noTouch, type Touch } from './touch.js';

/** A request that the ensemble answered on the present connection. */
export interface AnsweredRequest {
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
}

export interface LeaseEvidence {
  /** Newest instant proven to count. -Infinity if there is none. */
  readonly provenAtMs: number;
  /** Answered requests of the present connection, oldest first, as far back as they can still matter. */
  readonly answered: readonly AnsweredRequest[];
  /** When the handshake of the present connection was sent. It counts once a write has committed. */
  readonly handshakeSentAtMs: number;
  /**
   * Instant from which a server may have resumed the session with a smaller timeout, in an answer that was
   * lost. Infinity if none has.
   */
  readonly doubtedSinceMs: number;
  readonly touch: Touch;
}

/** The lease of a node that has none. */
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

/** Returns the evidence after a handshake sent at `sentAtMs` opened the session. */
export function sessionOpened(sentAtMs: number): LeaseEvidence {
  return { ...noEvidence, provenAtMs: sentAtMs, handshakeSentAtMs: sentAtMs };
}

/**
 * Records that a handshake was sent to resume the session. The ensemble may act on it even if the answer is
 * lost.
 */
export function resumptionAsked(evidence: LeaseEvidence, sentAtMs: number): LeaseEvidence {
  return { ...evidence, doubtedSinceMs: Math.min(evidence.doubtedSinceMs, sentAtMs) };
}

/**
 * Records that a handshake sent at `sentAtMs` resumed the session. The connection is new, so earlier evidence
 * remains only as proof. `shrunkMs` is how much less the server grants than the smallest timeout before. If
 * it grants less, the proof remains valid for as long as before, but no longer than the new timeout from that
 * handshake.
 */
export function sessionResumed(evidence: LeaseEvidence, sentAtMs: number, shrunkMs: number): LeaseEvidence {
  const { provenAtMs: was } = evidence;
  const provenAtMs = shrunkMs <= 0 ? was : Math.min(was + leaseShare * shrunkMs, Math.max(was, sentAtMs));
  return { ...evidence, provenAtMs, answered: [], handshakeSentAtMs: sentAtMs };
}

/**
 * Records that a request of any kind, including a ping, was answered. Drops entries older than the session
 * timeout, and keeps one of several requests that were sent close together. Closeness is judged by when they
 * were sent, not answered. After a stall, an old request is answered together with a new one, which proves
 * more.
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
  const touch = heard(evidence.touch, request.answeredAtMs, sessionTimeoutMs);
  return { ...evidence, answered: [...kept, request], touch };
}

/**
 * Records that a write sent at `sentAtMs` was committed. This proves the connection's handshake and every
 * sign of life answered T/4 before that.
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
 * Returns the newest instant from which the session is proven to last for its timeout, or for half of it
 * while in doubt.
 */
export function provenAlive({ provenAtMs, doubtedSinceMs }: LeaseEvidence, sessionTimeoutMs: number): number {
  return Math.min(provenAtMs, doubtedSinceMs - sessionTimeoutMs * leaseShare * doubtShare);
}

/**
 * Whether the lease of a claim sent now would last until its renewal, when the next sign of life is proven.
 * After a stall it would not: older signs of life are too old, and newer ones are too recent.
 */
export function lastsToRenewal(evidence: LeaseEvidence, nowMs: number, sessionTimeoutMs: number): boolean {
  const { provenAtMs } = writeCommitted(evidence, nowMs, sessionTimeoutMs);
  const next = evidence.answered.find((entry) => entry.sentAtMs > provenAtMs)?.answeredAtMs ?? nowMs;
  const provableAtMs = Math.max(nowMs, next + sessionTimeoutMs * proofGap);
  const { releaseAtMs } = leaseFrom(provenAtMs, sessionTimeoutMs);
  return provableAtMs + sessionTimeoutMs * renewShare < releaseAtMs;
}

/** Share of the session timeout by which a sign of life must precede the write that proves it. */
const proofGap = 1 / 4;
/** Smallest share of the session timeout that a server is assumed to grant if its answer was lost. */
const doubtShare = 1 / 2;
/** Share of the session timeout within which one request is enough evidence. */
const evidenceShare = 1 / 100;
/** Share of the session timeout that a lease lasts. Clock rates may differ by 10 %. */
const leaseShare = 0.9;
/** Share of the session timeout reserved at a lease's end for releasing and killing. */
const reserveShare = 0.2;
/**
 * Interval between renewals, whether or not earlier ones succeeded. In normal operation, a lease is then
 * never older than the proof gap, two intervals and two round trips.
 */
const renewShare = 1 / 12;
/**
 * How long a server may leave a renewal unanswered. After that, the client changes to another server, which
 * may answer before the lease must be released.
 */
const serverPatienceShare = 1 / 6;
/** Interval at which an idle node gives a sign of life. */
const pingShare = 1 / 4;

export interface Lease {
  /** From this instant on, the node must not act as leader and its workload must be dead. */
  readonly endsAtMs: number;
  /**
   * If the lease is not renewed by this instant, the node begins to release, so that it finishes before the
   * lease ends.
   */
  readonly releaseAtMs: number;
}

export function leaseFrom(provenAtMs: number, sessionTimeoutMs: number): Lease {
  const endsAtMs = provenAtMs + sessionTimeoutMs * leaseShare;
  return { endsAtMs, releaseAtMs: endsAtMs - sessionTimeoutMs * reserveShare };
}

/** Returns the time between the sending of two renewals. */
export function renewalIntervalMs(sessionTimeoutMs: number): number {
  return sessionTimeoutMs * renewShare;
}

/** Returns how long a server may leave a renewal unanswered. */
export function serverPatienceMs(sessionTimeoutMs: number): number {
  return sessionTimeoutMs * serverPatienceShare;
}

/**
 * Returns the longest silence of a connected client. It is short enough that a new claim starts with a useful
 * lease.
 */
export function pingIntervalMs(sessionTimeoutMs: number): number {
  return sessionTimeoutMs * pingShare;
}
