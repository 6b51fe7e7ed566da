/** Presents each slot of a group with several leaders as if it were a group with one leader. */
import type { History, Status } from './schemas.js';

/** The group's status, in which all fields about a leader describe the leader of one slot. */
export interface SlotStatus extends Status {
  readonly slot: number;
}

/**
 * Returns the slots in order. In a group with one leader, the status of the only slot is the same as the
 * group's status.
 */
export function slotsOf(status: Status): SlotStatus[] {
  return status.leaders.map(({ slot, elected, leader, transition, preferred }) => {
    return { ...status, slot, elected, leader, transition, preferred };
  });
}

export function isSeveral({ leaders }: Pick<Status, 'leaders'>): boolean {
  return leaders.length > 1;
}

/** Returns the history of one slot, without changes that operators made. */
export function historyOfSlot({ records, gaps, problems }: History, slot: number): History {
  return {
    records: records.filter((record) => record.kind === 'transition' && (record.slot ?? 1) === slot),
    gaps: gaps.filter((gap) => (gap.slot ?? 1) === slot),
    problems,
  };
}
