/**
 * A leadership that ended though the decision for its node stands: its lease was not renewed, say. The node claims anew by
 * the same decision, and what it knows of the one before goes into that claim, for the history: nothing else tells since
 * when nobody led.
 */
import type { ClaimContent } from './znodes.js';

export interface Lapse {
  readonly slot: number;
  readonly term: number;
  readonly token: bigint;
  /** Why it ended; one line, for people. */
  readonly reason: string;
  /** When its node stopped leading; monotonic, its own. */
  readonly atMs: number;
}

/** What a claim made now, by the decision of a slot's term, says of the leadership before it; null: there was none by that one. */
export function resumption(
  lapse: Lapse | null,
  by: Pick<Lapse, 'slot' | 'term'>,
  nowMs: number,
): ClaimContent['resumes'] {
  if (lapse === null || lapse.slot !== by.slot || lapse.term !== by.term) return null;
  const { token, reason, atMs } = lapse;
  return { token: String(token), reason, agoMs: Math.max(0, nowMs - atMs) };
}
