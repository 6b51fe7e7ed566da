/**
 * The state of a group as one node read it: one immutable value for each round. Every decision is made from
 * it, never from an event. Each part says by itself whether its content was readable; a part that was not
 * never makes the others unusable.
 */

import type { GroupConfig } from './group-config.js';
import type { Parsed } from './names.js';
import type { Neighbour } from './neighbour.js';
import type { Registration } from './registration.js';
import type { ScoreReport } from './scores.js';
import type { CircuitBreakerRecord, ClaimContent, Elected, HistoryHead } from './znodes.js';

export type SessionId = bigint;

/** Content with the version it was read at. */
export type Versioned<T> = Parsed<T> & { readonly version: number; readonly modifiedAtMs: number };

/**
 * Tells what was written from everything that is ever written there: a znode made anew begins its versions
 * anew.
 */
export function writeOf({ version, modifiedAtMs }: Versioned<unknown>): string {
  return `${version}@${modifiedAtMs}`;
}

/** `leader/current`, as it stands. */
export type Claim = Versioned<ClaimContent> & {
  /** The fencing token. */
  readonly token: bigint;
  readonly owner: SessionId;
  readonly createdAtMs: number;
};

/** A group's circuit breaker, as it was read. */
export interface CircuitBreaker {
  readonly path: string;
  /** Of the group whose circuit breaker it is. */
  readonly root: string;
  readonly record: CircuitBreakerRecord;
  readonly version: number;
}

/** A node that is registered. */
export type Member = Versioned<Registration> & {
  readonly node: string;
  readonly owner: SessionId;
  /** Place of its seat among the seats, 0 the elector's; null without a seat. */
  readonly seat: number | null;
  /**
   * Names of all that are its, where they were read: there are more than one where somebody made another by
   * hand.
   */
  readonly seatNames?: readonly string[] | undefined;
  /** What it measures; missing where nobody needs it, or it measures nothing. */
  readonly scores?: ScoreReport | undefined;
};

/** With what the node has told of itself: a report counts for the life that made it. */
export function withScores(member: Member, report: ScoreReport | null): Member {
  if (report?.node !== member.node || report.incarnation !== member.value?.incarnation) return member;
  return { ...member, scores: report };
}

/** This node's seat. */
export interface OwnSeat {
  readonly name: string;
  readonly version: number;
  /** The seat just below, null for the elector. */
  readonly below: string | null;
  /** True when the seat just below is the elector's. */
  readonly second: boolean;
}

/** What stands in one slot. */
export interface SlotState {
  readonly slot: number;
  readonly elected: Versioned<Elected>;
  /** Null also where this node has no need to know. */
  readonly current: Claim | null;
}

export interface GroupSnapshot {
  /** Whose `elected`, `current` and `history` these are; missing: the first slot's. */
  readonly slot?: number | undefined;
  /** The other slots, in their order; missing: there are none. */
  readonly others?: readonly SlotState[] | undefined;
  readonly config: Versioned<GroupConfig>;
  readonly elected: Versioned<Elected>;
  readonly current: Claim | null;
  /** This node's own registration. */
  readonly self: Versioned<Registration> | null;
  readonly seat: OwnSeat | null;
  /** Everyone, where this node elects (or watches the one who does); null where it has no need to know. */
  readonly members: readonly Member[] | null;
  /** What was recorded last; null with `members`, and where the znode is missing. */
  readonly history: Versioned<HistoryHead> | null;
  /**
   * The group that its leader has to be near to, or away from; missing or null where there is none, or this
   * node need not know.
   */
  readonly neighbour?: Neighbour | null | undefined;
  /**
   * What its circuit breaker has counted; missing or null where the group has none, or this node need not
   * know.
   */
  readonly circuitBreaker?: CircuitBreaker | null | undefined;
}

/** The node that owns a claim, known by its session even where the claim's content cannot be read. */
export function claimOwner(claim: Claim, members: readonly Member[]): Member | null {
  return members.find((member) => member.owner === claim.owner) ?? null;
}

/** The node that is READY. */
export function readyNode(current: Claim | null, members: readonly Member[]): string | null {
  return current?.value?.status === 'READY' ? (claimOwner(current, members)?.node ?? null) : null;
}

/** Its name, also where it is not registered any more. */
export function ownerName(claim: Claim, members: readonly Member[]): string | null {
  return claimOwner(claim, members)?.node ?? claim.value?.node ?? null;
}

export function siteOf(node: string, members: readonly Member[]): string | null {
  return members.find((member) => member.node === node)?.value?.site ?? null;
}

export function incarnationKey({ node, owner }: Member): string {
  return `${node} ${owner}`;
}
