/** Input and result of an elector's turn. */

import type { GroupConfig } from '../../model/group-config.js';
import type { Registration } from '../../model/registration.js';
import { slotStates } from '../../model/slots.js';
import type { Claim, GroupSnapshot, Member } from '../../model/snapshot.js';
import type { Store } from '../../ports/store.js';
import type { Decision } from '../../slots/group-round.js';

/**
 * A changed registration of this node that must still be written, and the version of the outdated
 * registration in ZooKeeper.
 */
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
  /**
   * The registration that must still be written. The elector uses it for the decision and writes both
   * together. Null if the registration in ZooKeeper is up to date.
   */
  readonly unwritten: Unwritten | null;
}

/**
 * A decision that was written. `claim` is this node's claim, if it was written together with the decision.
 */
export interface DecisionMade extends Decision {
  readonly claim?: Claim | undefined;
}

export interface TurnResult {
  readonly decisions: readonly DecisionMade[];
  /** Whether anything was written. The group must then be read again. */
  readonly acted: boolean;
  readonly recheckInMs: number | null;
  /** The new seat, if the elector gave up the old one. Null otherwise. */
  readonly newSeat: string | null;
}

/** Returns all members. This node's own entry contains the unwritten registration. */
export function withUnwritten(members: readonly Member[], unwritten: Unwritten | null): readonly Member[] {
  if (unwritten === null) return members;
  const { registration } = unwritten;
  return members.map((member) =>
    member.node === registration.node ? { ...member, value: registration, problem: null } : member,
  );
}

/**
 * Returns the snapshot with these decisions applied. The node that made the decisions then need not read
 * them.
 */
export function withDecisions(snapshot: GroupSnapshot, decisions: readonly DecisionMade[]): GroupSnapshot {
  const [first, ...others] = slotStates(snapshot).map((state) => {
    const made = decisions.find(({ slot }) => slot === state.slot);
    if (made === undefined) return state;
    const { electedVersion, elected: value, claim = state.current } = made;
    const elected = { ...state.elected, value, problem: null, version: electedVersion + 1 };
    return { ...state, elected, current: claim };
  });
  return first === undefined
    ? snapshot
    : { ...snapshot, elected: first.elected, current: first.current, others };
}

/** Rules that every node can evaluate. */
export const lastResort = { strategy: 'first-available', strategyOptions: {}, constraints: [] };

export function abandonedText({ strategy, constraints }: GroupConfig): string {
  const own = constraints.length === 0 ? '' : ` with constraints ${constraints.join(', ')}`;
  const without = constraints.length === 0 ? '' : ' without them';
  return `no node can run strategy ${strategy}${own}: using first-available${without}`;
}

/**
 * Whether every node with a seat has given up running elections under the current version of the
 * configuration.
 */
export function haveAllGivenUp({ members, snapshot }: ElectorTurn): boolean {
  const { version } = snapshot.config;
  const seated = members.filter(({ seat }) => seat !== null);
  return seated.length > 0 && seated.every(({ value }) => value?.gaveUp?.configVersion === version);
}
