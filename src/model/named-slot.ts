/** A slot in the form in which history records, log lines and spans name it. */
export interface NamedSlot {
  /** Slot number. Missing if the group has only one slot. */
  readonly slot?: number;
}

export function named(slot: number, slots: number): NamedSlot {
  return slots === 1 ? {} : { slot };
}
