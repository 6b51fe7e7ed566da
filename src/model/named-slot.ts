/** A slot as history records, log lines and spans name it. */
export interface NamedSlot {
  /** Missing if the group has only one. */
  readonly slot?: number;
}

export function named(slot: number, slots: number): NamedSlot {
  return slots === 1 ? {} : { slot };
}
