/** One version of a slot's `elected` znode, as a node reports it. In each slot, versions start at 0. */
import type { Registration } from '../../model/registration.js';

export interface DecisionKnown {
  readonly slot: number;
  readonly version: number;
}

/**
 * Returns the registration fields that a claim sets. For the first slot, these do not include the slot
 * number.
 */
export function claimedUnder(slot: number, version: number): Partial<Registration> {
  const claimedSlot = slot === 1 ? undefined : slot;
  return { claimedUnder: version, claimedSlot, lastFailure: null };
}

export function failedUnder({ slot, version }: DecisionKnown): { electedVersion: number; slot?: number } {
  return slot === 1 ? { electedVersion: version } : { electedVersion: version, slot };
}
