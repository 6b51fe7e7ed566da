/**
 * Views of a group with several leaders, one for each slot. To get information about a leader, use the view
 * of that leader's slot.
 */

import { PetrelError } from '../errors.js';
import { pathsOfSlot } from '../model/paths.js';
import { slotStates, slotView } from '../model/slots.js';
import type { GroupView } from './view.js';

/** Whether the group currently has the slot. */
export function hasSlot(view: GroupView, slot: number): boolean {
  return slotStates(view.whole ?? view).some((state) => state.slot === slot);
}

/** Returns the view of a slot. Throws PetrelError INVALID if the group does not have the slot. */
export function viewOfSlot(view: GroupView, slot: number): GroupView {
  const whole = view.whole ?? view;
  const slots = slotStates(whole).map((state) => state.slot);
  if (!slots.includes(slot)) {
    const right = slots.length === 1 ? 'only slot 1' : `slots 1 to ${slots.length}`;
    throw new PetrelError('INVALID', `slot ${slot} does not exist: the group has ${right}`);
  }
  return slot === 1
    ? whole
    : {
        ...whole,
        ...slotView(whole, slot),
        paths: pathsOfSlot(whole.paths, slot),
        members: whole.members,
        whole,
      };
}

/** Returns the views of all slots, in slot order. */
export function viewsOfSlots(view: GroupView): GroupView[] {
  return slotStates(view.whole ?? view).map(({ slot }) => viewOfSlot(view, slot));
}
