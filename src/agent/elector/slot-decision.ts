/** One version of a slot's `elected` znode, as a node reports it. Versions count from 0 in each slot. */
import type { Registration } from '../../model/registration.js';

export interface DecisionKnown {
  readonly slot: number;
  readonly version: number;
}

/**
 * Returns the registration's fields for a claim. For the first slot, they do not contain the slot's number.
 */
export function claimedUnder(slot: number, version: number): Partial<Registration> {
  const claimedSlot = slot === 1 ? undefined : slot;
  return { claimedUnder: version, claimedSlot, lastFailure: null };
}

export function failedUnder({ slot, version }: DecisionKnown): { electedVersion: number; slot?: number } {
  return slot === 1 ? { electedVersion: version } : { electedVersion: version, slot };
}
