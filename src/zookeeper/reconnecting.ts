/** How long to pause when no server of the ensemble could be had: at random up to what is told here. */
import { backoffMs } from '../core/backoff.js';

/** The first pause: up to this share of the session timeout, and no longer than that. */
const firstShare = 1 / 4;
const firstMs = 1000;
/** Doubled with each vain round, up to these shares: a session that may live is worth a hurry. */
const longestShare = { session: 1 / 8, noSession: 1 } as const;
const longestMs = 10_000;

export function firstPauseMs(timeoutMs: number): number {
  return Math.min(firstMs, timeoutMs * firstShare);
}

/** After so many rounds in a row in which each server had its turn in vain. */
export function longestPauseMs(timeoutMs: number, hasSession: boolean, rounds: number): number {
  const share = hasSession ? longestShare.session : longestShare.noSession;
  return backoffMs(firstPauseMs(timeoutMs), Math.min(longestMs, timeoutMs * share), rounds);
}
