/**
 * A session's contact with the ensemble, as shown by the servers' answers. A server that loses its leader
 * disconnects its clients and answers nothing. A node with unbroken contact therefore knows that the ensemble
 * was available. Not detected: an ensemble that commits nothing for some time although its servers still
 * answer.
 */
export interface Touch {
  readonly sinceMs: number;
  /** Instant at which the newest answer arrived. */
  readonly lastMs: number;
}

export const noTouch: Touch = { sinceMs: Number.POSITIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY };

/**
 * Longest silence that does not break the contact, as a share of the session timeout. No leader's lease ends
 * because of a shorter silence. An idle client receives an answer every quarter of the timeout.
 */
const breakShare = 0.28;

/** Records an answer that arrived at `nowMs` (monotonic). */
export function answered(touch: Touch, nowMs: number, sessionTimeoutMs: number): Touch {
  return { sinceMs: inTouchSinceMs(touch, nowMs, sessionTimeoutMs), lastMs: nowMs };
}

/** Returns the instant at which the unbroken contact began. During a break, this is `nowMs`. */
export function inTouchSinceMs({ sinceMs, lastMs }: Touch, nowMs: number, sessionTimeoutMs: number): number {
  return nowMs - lastMs > sessionTimeoutMs * breakShare ? nowMs : sinceMs;
}
