/** What an elector's turn begins with, and ends with. */
import type { GroupSnapshot, Member } from '../core/snapshot.js';
import type { Registration } from '../core/znodes.js';
import type { Store } from '../ports/store.js';

/** This node's registration as it is to be, where another stands, and the version of that. */
export interface Unwritten {
  readonly registration: Registration;
  readonly data: Buffer;
  readonly version: number;
}

export interface ElectorTurn {
  readonly store: Store;
  readonly snapshot: GroupSnapshot;
  readonly members: readonly Member[];
  readonly seat: string;
  /** It is decided by, and written with the decision. */
  readonly unwritten: Unwritten | null;
}

export interface TurnResult {
  /** Something was written: read again. */
  readonly acted: boolean;
  readonly recheckInMs: number | null;
  /** The seat was given up: this is the new one. */
  readonly newSeat: string | null;
}

/** Everyone, this node as it is to be. */
export function withUnwritten(members: readonly Member[], unwritten: Unwritten | null): readonly Member[] {
  if (unwritten === null) return members;
  const { registration } = unwritten;
  return members.map((member) =>
    member.node === registration.node ? { ...member, value: registration, problem: null } : member,
  );
}
