/** Longest pauses between rounds of connection attempts. The client picks a random pause up to these. */
import { doubledMs } from '../model/duration.js';

/** The first pause: up to this share of the session timeout, and at most `firstMs`. */
const firstShare = 1 / 4;
const firstMs = 1000;
/**
 * Each failed round doubles the pause, up to these shares of the timeout. While the session may still exist,
 * pauses are shorter.
 */
const longestShare = { session: 1 / 8, noSession: 1 } as const;
/**
 * A waiting node reconnects within this time of the ensemble's return (P28): there may be no leader until
 * then.
 */
const longestMs = 2_000;

export function firstPauseMs(timeoutMs: number): number {
  return Math.min(firstMs, timeoutMs * firstShare);
}

/** `rounds` is the number of consecutive rounds that failed on every server. */
export function longestPauseMs(timeoutMs: number, hasSession: boolean, rounds: number): number {
  const share = hasSession ? longestShare.session : longestShare.noSession;
  return doubledMs(firstPauseMs(timeoutMs), Math.min(longestMs, timeoutMs * share), rounds);
}
