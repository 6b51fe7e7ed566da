/** A violation of a rule. */
export interface Violation {
  readonly rule: string;
  readonly what: string;
  /** Instant on CLOCK_MONOTONIC near which the records show the violation. */
  readonly atMs: number;
}

/**
 * Returns the name of a slot for use in a message. Slot 1 gets no name, because most groups have only that
 * one.
 */
export function inSlot(slot: number): string {
  return slot === 1 ? '' : ` in slot ${slot}`;
}
