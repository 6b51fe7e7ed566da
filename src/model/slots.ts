/**
 * The slots of a group with several leaders. Each decision is about one slot. The input to a decision is that
 * slot's view of the group, which includes the other slots.
 */

import type { GroupConfig } from './group-config.js';
import { type NamedSlot, named } from './named-slot.js';
import type { GroupSnapshot, Member, SessionId, SlotState } from './snapshot.js';
import { initialHistoryHead } from './znodes.js';

/** Returns the slot that a value belongs to. The default is the first slot. */
export function slotOf({ slot = 1 }: { readonly slot?: number | undefined }): number {
  return slot;
}

/** Returns the slot in the form in which history records, log lines and spans name it. */
export function namedSlot(snapshot: GroupSnapshot): NamedSlot {
  return named(slotOf(snapshot), slotStates(snapshot).length);
}

/** Returns all slots, in order. */
export function slotStates(snapshot: GroupSnapshot): readonly SlotState[] {
  const { elected, current, others = [] } = snapshot;
  const own = { slot: slotOf(snapshot), elected, current };
  return others.length === 0 ? [own] : [own, ...others].toSorted((a, b) => a.slot - b.slot);
}

/**
 * Returns one slot's view of the group. `snapshot` is the first slot's view. If the slot does not exist,
 * returns `snapshot` itself.
 */
export function slotView(snapshot: GroupSnapshot, slot: number): GroupSnapshot {
  const states = slotStates(snapshot);
  const own = states.find((state) => state.slot === slot);
  if (own === undefined || slot === slotOf(snapshot)) return snapshot;
  return {
    ...snapshot,
    slot,
    elected: own.elected,
    current: own.current,
    others: states.filter((state) => state !== own),
    history: headOf(snapshot.history, slot),
  };
}

/** Returns the configuration for one slot. Omits a switchover request for another slot. */
export function configOfSlot(config: GroupConfig, slot: number): GroupConfig {
  const { switchover } = config;
  return switchover === null || slotOf(switchover) === slot ? config : { ...config, switchover: null };
}

/**
 * Returns one slot's view of the members. Omits failures in other slots, because they are handled in the
 * views of those slots.
 */
export function membersOfSlot(members: readonly Member[], slot: number): readonly Member[] {
  return members.map((member) => {
    const failure = member.value?.lastFailure ?? null;
    if (member.value === null || failure === null || slotOf(failure) === slot) return member;
    return { ...member, value: { ...member.value, lastFailure: null } };
  });
}

function headOf(history: GroupSnapshot['history'], slot: number): GroupSnapshot['history'] {
  if (history === null || history.value === null) return history;
  return { ...history, value: history.value.slots?.[slot] ?? initialHistoryHead, problem: null };
}

/**
 * Returns the number of slots. If `elected` does not contain this number, derives it from the history, the
 * configuration and `known`.
 */
export function slotCount(
  { elected, history, config }: Pick<GroupSnapshot, 'elected' | 'history' | 'config'>,
  known: number,
): number {
  const { value } = elected;
  if (value !== null && value.term > 0) return value.slots ?? 1;
  const recorded = Object.keys(history?.value?.slots ?? {}).map(Number);
  const named = recorded.filter((slot) => Number.isInteger(slot));
  // Nothing has been decided yet, or the decision was lost because `elected` was deleted and created again.
  if (value !== null) return Math.max(known, value.slots ?? 1, ...named);
  return Math.max(known, config.value?.leaders ?? 1, ...named);
}

/**
 * Returns the slots that concern a node: those whose claim it owns, or whose decision names it. Slots with an
 * owned claim come first, because the node must release or resume that claim before it makes another.
 */
export function slotsOfNode(snapshot: GroupSnapshot, node: string, session: SessionId): number[] {
  const states = slotStates(snapshot);
  const owned = states.filter(({ current }) => current?.owner === session);
  const named = states.filter((state) => state.elected.value?.node === node && !owned.includes(state));
  return [...owned, ...named].map(({ slot }) => slot);
}

/** Whether the decision of any slot names the node. */
export function isElected(snapshot: GroupSnapshot, node: string): boolean {
  return slotStates(snapshot).some(({ elected }) => elected.value?.node === node);
}
