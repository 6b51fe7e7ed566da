/** A group of several leaders as each of its slots is: what is told of a leader is told of one slot. */
import type { History, Status } from './schemas.js';

/** The group's, with what is about a leader taken from one slot. */
export interface SlotStatus extends Status {
  readonly slot: number;
}

/** In their order; the one of a group that has but one leader is as the group's own. */
export function slotsOf(status: Status): SlotStatus[] {
  return status.leaders.map(({ slot, elected, leader, transition, preferred }) => {
    return { ...status, slot, elected, leader, transition, preferred };
  });
}

export function isSeveral({ leaders }: Pick<Status, 'leaders'>): boolean {
  return leaders.length > 1;
}

/** What happened in one slot; what people changed is left out. */
export function historyOfSlot({ records, gaps, problems }: History, slot: number): History {
  return {
    records: records.filter((record) => record.kind === 'transition' && (record.slot ?? 1) === slot),
    gaps: gaps.filter((gap) => (gap.slot ?? 1) === slot),
    problems,
  };
}
