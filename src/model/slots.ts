/**
 * The slots of a group that has several leaders. What decides about a leader decides about one slot: it is
 * given the group as that slot sees it, with the other slots beside it.
 */

import type { GroupConfig } from './group-config.js';
import { type NamedSlot, named } from './named-slot.js';
import type { GroupSnapshot, Member, SessionId, SlotState } from './snapshot.js';
import { initialHistoryHead } from './znodes.js';

/** The slot that something is about: the first, where nothing says otherwise. */
export function slotOf({ slot = 1 }: { readonly slot?: number | undefined }): number {
  return slot;
}

/** As records, lines and spans name it. */
export function namedSlot(snapshot: GroupSnapshot): NamedSlot {
  return named(slotOf(snapshot), slotStates(snapshot).length);
}

/** All slots, in their order. */
export function slotStates(snapshot: GroupSnapshot): readonly SlotState[] {
  const { elected, current, others = [] } = snapshot;
  const own = { slot: slotOf(snapshot), elected, current };
  return others.length === 0 ? [own] : [own, ...others].toSorted((a, b) => a.slot - b.slot);
}

/**
 * The group as one of its slots sees it. `snapshot` is the first slot's; a slot that is not there is its,
 * too.
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

/** Of a configuration what concerns one slot: a request for another is none of its business. */
export function configOfSlot(config: GroupConfig, slot: number): GroupConfig {
  const { switchover } = config;
  return switchover === null || slotOf(switchover) === slot ? config : { ...config, switchover: null };
}

/** Of what nodes tell what concerns one slot: a failure in another is told there. */
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

/** How many slots there are, as far as can be told: what `elected` cannot tell the history and `known` do. */
export function slotCount(
  { elected, history, config }: Pick<GroupSnapshot, 'elected' | 'history' | 'config'>,
  known: number,
): number {
  const { value } = elected;
  if (value !== null && value.term > 0) return value.slots ?? 1;
  const recorded = Object.keys(history?.value?.slots ?? {}).map(Number);
  const named = recorded.filter((slot) => Number.isInteger(slot));
  // Nothing was decided yet, or what was is lost: deleted, and made anew.
  if (value !== null) return Math.max(known, value.slots ?? 1, ...named);
  return Math.max(known, config.value?.leaders ?? 1, ...named);
}

/**
 * The slots that concern a node: whose claim it owns, or that name it. First the one to be seen to: a claim
 * of its own is given away, or taken up, before there is another.
 */
export function slotsOfNode(snapshot: GroupSnapshot, node: string, session: SessionId): number[] {
  const states = slotStates(snapshot);
  const owned = states.filter(({ current }) => current?.owner === session);
  const named = states.filter((state) => state.elected.value?.node === node && !owned.includes(state));
  return [...owned, ...named].map(({ slot }) => slot);
}

/** Whether a decision names the node, in any slot. */
export function isElected(snapshot: GroupSnapshot, node: string): boolean {
  return slotStates(snapshot).some(({ elected }) => elected.value?.node === node);
}
