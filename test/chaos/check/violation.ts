/** A violation of a rule. */
export interface Violation {
  readonly rule: string;
  readonly what: string;
  /** On CLOCK_MONOTONIC. Shows where to look in the records. */
  readonly atMs: number;
}

/** Names a slot in a message. Slot 1 gets no name, because most groups have only that one. */
export function inSlot(slot: number): string {
  return slot === 1 ? '' : ` in slot ${slot}`;
}
