/** A write of one slot's `elected`, as a node reports it. Versions count from 0 in each slot. */
import type { Registration } from '../../model/registration.js';

export interface DecisionKnown {
  readonly slot: number;
  readonly version: number;
}

/** Returns the registration's fields for a claim. They do not name the slot if it is the first. */
export function claimedUnder(slot: number, version: number): Partial<Registration> {
  const claimedSlot = slot === 1 ? undefined : slot;
  return { claimedUnder: version, claimedSlot, lastFailure: null };
}

export function failedUnder({ slot, version }: DecisionKnown): { electedVersion: number; slot?: number } {
  return slot === 1 ? { electedVersion: version } : { electedVersion: version, slot };
}
