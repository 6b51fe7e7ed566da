/**
 * Since when a session has been in touch with the ensemble without a break, by what its servers answered. A
 * server that has lost its leader hangs up on its clients and answers nothing, so who was in touch all the
 * time knows that the ensemble was there. Not told: an ensemble that commits nothing for a while, and whose
 * servers go on answering.
 */
export interface Touch {
  readonly sinceMs: number;
  /** The newest answer. */
  readonly lastMs: number;
}

export const noTouch: Touch = { sinceMs: Number.POSITIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY };

/**
 * A longer silence, as a share of the session timeout, is a break: no leader's lease runs out over a shorter
 * one. An idle client is answered every quarter.
 */
const breakShare = 0.28;

/** Something was heard at `nowMs`, monotonic. */
export function heard(touch: Touch, nowMs: number, sessionTimeoutMs: number): Touch {
  return { sinceMs: inTouchSinceMs(touch, nowMs, sessionTimeoutMs), lastMs: nowMs };
}

/** `nowMs` where there is a break now. */
export function inTouchSinceMs({ sinceMs, lastMs }: Touch, nowMs: number, sessionTimeoutMs: number): number {
  return nowMs - lastMs > sessionTimeoutMs * breakShare ? nowMs : sinceMs;
}
