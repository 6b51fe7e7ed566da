/**
 * Contact of a session with the ensemble, judged by the answers of the servers. A server that loses its
 * leader disconnects its clients and answers nothing. A node with unbroken contact therefore knows that the
 * ensemble was available. Not detected: an ensemble whose servers still answer but which commits nothing for
 * some time.
 */
export interface Touch {
  readonly sinceMs: number;
  /** Instant at which the newest answer arrived. */
  readonly lastMs: number;
}

export const noTouch: Touch = { sinceMs: Number.POSITIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY };

/**
 * Longest silence that does not break the contact, as a share of the session timeout. No leader's lease ends
 * because of a shorter silence. An idle client is answered every quarter of the timeout.
 */
const breakShare = 0.28;

/** Records an answer that arrived at `nowMs` (monotonic). */
export function answered(touch: Touch, nowMs: number, sessionTimeoutMs: number): Touch {
  return { sinceMs: inTouchSinceMs(touch, nowMs, sessionTimeoutMs), lastMs: nowMs };
}

/** Returns the instant since which contact has been unbroken. During a break, this is `nowMs`. */
export function inTouchSinceMs({ sinceMs, lastMs }: Touch, nowMs: number, sessionTimeoutMs: number): number {
  return nowMs - lastMs > sessionTimeoutMs * breakShare ? nowMs : sinceMs;
}
