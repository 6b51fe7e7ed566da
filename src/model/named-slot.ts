/** A slot as records, lines and spans name it. */
export interface NamedSlot {
  /** Missing where the group has but one. */
  readonly slot?: number;
}

export function named(slot: number, slots: number): NamedSlot {
  return slots === 1 ? {} : { slot };
}
