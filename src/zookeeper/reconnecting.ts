/** Longest pauses between rounds of connection attempts. The actual pause is random, up to these limits. */
import { doubledMs } from '../model/duration.js';

/** The first pause is at most this share of the session timeout, and at most `firstMs`. */
const firstShare = 1 / 4;
const firstMs = 1000;
/**
 * Each failed round doubles the pause. The longest pause is one of these fractions of the timeout. While the
 * session may still exist, the smaller fraction applies.
 */
const longestShare = { session: 1 / 8, noSession: 1 } as const;
/**
 * Longest pause in milliseconds. A waiting node must reconnect soon after the ensemble returns (requirement
 * P28), because there may be no leader until the node has reconnected.
 */
const longestMs = 2_000;

export function firstPauseMs(timeoutMs: number): number {
  return Math.min(firstMs, timeoutMs * firstShare);
}

/**
 * Returns the longest pause before the next round. `rounds` is the number of consecutive rounds that failed
 * on every server.
 */
export function longestPauseMs(timeoutMs: number, hasSession: boolean, rounds: number): number {
  const share = hasSession ? longestShare.session : longestShare.noSession;
  return doubledMs(firstPauseMs(timeoutMs), Math.min(longestMs, timeoutMs * share), rounds);
}
