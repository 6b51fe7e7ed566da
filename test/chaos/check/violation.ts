/** Something that must not happen, and happened. */
export interface Violation {
  readonly rule: string;
  readonly what: string;
  /** On CLOCK_MONOTONIC: where in the records to look. */
  readonly atMs: number;
}

/** How a slot is named: the first, which is the only one of most groups, is not. */
export function inSlot(slot: number): string {
  return slot === 1 ? '' : ` in slot ${slot}`;
}
