/**
 * Whoever elects tells the node that it newly names by a write to that node's seat, so that others need not watch
 * decisions. That holds only while everybody who may come to elect does so: agents before this do not, and nobody would
 * hear of what they decide.
 */
import type { Member } from './snapshot.js';
import type { Elected } from './znodes.js';

/** Everyone with a seat tells whom it elects. Of one whose registration cannot be read it is not known. */
export function allRing(members: readonly Member[]): boolean {
  return members.every(({ seat, value }) => seat === null || value?.rings === true);
}

/** The decision has nodes rely on being told, by somebody who may not. */
export function ringsInVain({ rings }: Pick<Elected, 'rings'>, members: readonly Member[]): boolean {
  return rings === true && !allRing(members);
}
