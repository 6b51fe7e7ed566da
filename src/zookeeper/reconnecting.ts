/** Longest pauses between rounds of connection attempts; the client picks a random pause up to these. */
import { doubledMs } from '../model/duration.js';

/** The first pause: up to this share of the session timeout, and no longer than that. */
const firstShare = 1 / 4;
const firstMs = 1000;
/** Doubled with each failed round, up to these shares: while the session may live, haste pays. */
const longestShare = { session: 1 / 8, noSession: 1 } as const;
/** Whoever waits for the ensemble joins within this of its return (P28): nobody may lead meanwhile. */
const longestMs = 2_000;

export function firstPauseMs(timeoutMs: number): number {
  return Math.min(firstMs, timeoutMs * firstShare);
}

/** `rounds`: how many in a row have tried every server in vain. */
export function longestPauseMs(timeoutMs: number, hasSession: boolean, rounds: number): number {
  const share = hasSession ? longestShare.session : longestShare.noSession;
  return doubledMs(firstPauseMs(timeoutMs), Math.min(longestMs, timeoutMs * share), rounds);
}
