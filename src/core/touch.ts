/**
 * The time since which a session has had unbroken contact with the ensemble, judged by its servers' answers.
 * A server that loses its leader disconnects its clients and answers nothing. So a node with unbroken contact
 * knows that the ensemble was available. Not detected: an ensemble that commits nothing for a while but whose
 * servers still answer.
 */
export interface Touch {
  readonly sinceMs: number;
  /** When the newest answer arrived. */
  readonly lastMs: number;
}

export const noTouch: Touch = { sinceMs: Number.POSITIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY };

/**
 * Share of the session timeout. A longer silence is a break. No leader's lease ends over a shorter one. An
 * idle client is answered every quarter of the timeout.
 */
const breakShare = 0.28;

/** Records an answer at `nowMs`, monotonic. */
export function heard(touch: Touch, nowMs: number, sessionTimeoutMs: number): Touch {
  return { sinceMs: inTouchSinceMs(touch, nowMs, sessionTimeoutMs), lastMs: nowMs };
}

/** Returns since when contact has been unbroken. This is `nowMs` during a break. */
export function inTouchSinceMs({ sinceMs, lastMs }: Touch, nowMs: number, sessionTimeoutMs: number): number {
  return nowMs - lastMs > sessionTimeoutMs * breakShare ? nowMs : sinceMs;
}
