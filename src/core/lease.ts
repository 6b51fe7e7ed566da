/**
 * The arithmetic of the lease: until when a node may act as leader without hearing more.
 *
 * What a committed write proves. A session's sign of life reaches the ensemble's leader not with the request
 * itself but with its server's next ping reply, at most tickTime/2 later, on the same ordered stream as the
 * forwarded write. So a committed write proves only signs of life that had *arrived* at the server tickTime/2
 * before the write did. A sign counts here when it was *answered* at least a quarter of the session timeout
 * before the write was sent: answered means arrived, and T/4 >= tickTime/2 while the ensemble keeps its
 * minimum session timeout of two ticks. Counting from its sending instead would trust the network not to have
 * delayed the sign more than the write.
 *
 * A connect handshake that opens a session is itself a committed write, so its own sending counts. One that
 * takes a session up again is vouched for by the ensemble's leader alone, and a leader that was deposed
 * without knowing it yet vouches as well. It counts as soon as anything is committed on the same connection:
 * a server that loses its leader hangs up on its clients, so then it was the leader in office that vouched.
 *
 * The session timeout is the smallest that any server ever granted to the session. Servers may differ in
 * their limits, and a new leader of the ensemble uses the timeout of the session's creation again. A server
 * may also have resumed the session with a smaller timeout, and its answer been lost. So half the timeout
 * counts from that handshake until a write commits.
 *
 * Not promised: anything where one server grants less than half of what another does, or where a handshake
 * that was given up is carried out late, by a server that grants less, after a write on a newer connection
 * has committed.
 *
 * All instants are milliseconds on one monotonic clock.
 */
import { heard, noTouch, type Touch } from './touch.js';

/** Something the ensemble answered on the present connection. */
export interface AnsweredRequest {
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
}

export interface LeaseEvidence {
  /** Newest instant known to count; -Infinity when there is none. */
  readonly provenAtMs: number;
  /** Answered requests of the present connection, oldest first, as far back as they can still matter. */
  readonly answered: readonly AnsweredRequest[];
  /** When the handshake of the present connection was sent; it counts once a write has committed. */
  readonly handshakeSentAtMs: number;
  /** When a server may first have resumed the session with a smaller timeout, unheard; Infinity: none. */
  readonly doubtedSinceMs: number;
  readonly touch: Touch;
}

/** Of whoever has none. */
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

/** A handshake sent at `sentAtMs` opened the session. */
export function sessionOpened(sentAtMs: number): LeaseEvidence {
  return { ...noEvidence, provenAtMs: sentAtMs, handshakeSentAtMs: sentAtMs };
}

/** A handshake is sent to resume the session. Its answer may get lost after the ensemble has acted on it. */
export function resumptionAsked(evidence: LeaseEvidence, sentAtMs: number): LeaseEvidence {
  return { ...evidence, doubtedSinceMs: Math.min(evidence.doubtedSinceMs, sentAtMs) };
}

/**
 * A handshake sent at `sentAtMs` resumed the session: a new connection, so what came before is kept only as
 * proof. If the server grants less than all before it, by `shrunkMs`, the proof holds as long as it did, but
 * no longer than the new timeout from that handshake on.
 */
export function sessionResumed(evidence: LeaseEvidence, sentAtMs: number, shrunkMs: number): LeaseEvidence {
  const { provenAtMs: was } = evidence;
  const provenAtMs = shrunkMs <= 0 ? was : Math.min(was + leaseShare * shrunkMs, Math.max(was, sentAtMs));
  return { ...evidence, provenAtMs, answered: [], handshakeSentAtMs: sentAtMs };
}

/**
 * A request of any kind, a ping included, was answered. Entries older than the session timeout are let go,
 * and of requests sent close together one is kept. Not by when they were answered: after a stall an old
 * request is answered together with a new one, which proves more.
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
 * A write sent at `sentAtMs` was committed: the connection's handshake and every sign answered T/4 before
 * that sending are now proven.
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
 * Newest instant from which the session is proven to live for its timeout, or for half of it while in doubt.
 */
export function provenAlive({ provenAtMs, doubtedSinceMs }: LeaseEvidence, sessionTimeoutMs: number): number {
  return Math.min(provenAtMs, doubtedSinceMs - sessionTimeoutMs * leaseShare * doubtShare);
}

/**
 * True if the lease of a claim sent now would last until its renewal, when the next sign of life is proven in
 * turn. After a stall it would not: older signs of life are too old, newer ones too young.
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
/** Smallest share of the session timeout that a server is assumed to grant whose answer was not heard. */
const doubtShare = 1 / 2;
/** Of requests sent within this share of the session timeout one is evidence enough. */
const evidenceShare = 1 / 100;
/** Share of the session timeout that a lease lasts: clock rates may differ by 10 %. */
const leaseShare = 0.9;
/** Share of the session timeout kept at a lease's end for releasing and killing. */
const reserveShare = 0.2;
/**
 * A leader renews this often, whatever became of the renewals before: its lease is then never older than the
 * proof gap, two intervals and two round trips while all is well.
 */
const renewShare = 1 / 12;
/**
 * A server that leaves a renewal unanswered for this long is left for another, which may answer before the
 * lease has to be given up.
 */
const serverPatienceShare = 1 / 6;
/** An idle node gives a sign of life this often. */
const pingShare = 1 / 4;

export interface Lease {
  /** From here on the node must not act as leader; its workload must be dead. */
  readonly endsAtMs: number;
  /** Unrenewed at this instant, the node begins to release, so that it has ended when the lease does. */
  readonly releaseAtMs: number;
}

export function leaseFrom(provenAtMs: number, sessionTimeoutMs: number): Lease {
  const endsAtMs = provenAtMs + sessionTimeoutMs * leaseShare;
  return { endsAtMs, releaseAtMs: endsAtMs - sessionTimeoutMs * reserveShare };
}

/** Time from the sending of one renewal to the next. */
export function renewalIntervalMs(sessionTimeoutMs: number): number {
  return sessionTimeoutMs * renewShare;
}

/** For how long a server may leave a renewal unanswered. */
export function serverPatienceMs(sessionTimeoutMs: number): number {
  return sessionTimeoutMs * serverPatienceShare;
}

/** Longest silence of a connected client, so that whoever claims has a lease worth the name. */
export function pingIntervalMs(sessionTimeoutMs: number): number {
  return sessionTimeoutMs * pingShare;
}
