/**
 * The state of a group as one node read it: one immutable value per round. Every decision is based on it,
 * never on an event. Each part records whether its content was readable. An unreadable part never makes the
 * others unusable.
 */

import type { GroupConfig } from './group-config.js';
import type { Parsed } from './names.js';
import type { Neighbour } from './neighbour.js';
import type { Registration } from './registration.js';
import type { ScoreReport } from './scores.js';
import type { CircuitBreakerRecord, ClaimContent, Elected, HistoryHead } from './znodes.js';

export type SessionId = bigint;

/** Content with the version that was read. */
export type Versioned<T> = Parsed<T> & { readonly version: number; readonly modifiedAtMs: number };

/**
 * Identifies one write among all writes to a path. The version alone does not, because a znode that is
 * created again restarts its versions.
 */
export function writeOf({ version, modifiedAtMs }: Versioned<unknown>): string {
  return `${version}@${modifiedAtMs}`;
}

/** `leader/current` as it was read. */
export type Claim = Versioned<ClaimContent> & {
  /** The fencing token. */
  readonly token: bigint;
  readonly owner: SessionId;
  readonly createdAtMs: number;
};

/** A group's circuit breaker as it was read. */
export interface CircuitBreaker {
  readonly path: string;
  /** Root of the group whose circuit breaker it is. */
  readonly root: string;
  readonly record: CircuitBreakerRecord;
  readonly version: number;
}

/** A registered node. */
export type Member = Versioned<Registration> & {
  readonly node: string;
  readonly owner: SessionId;
  /** Position of its seat among the seats, 0 for the elector's. Null without a seat. */
  readonly seat: number | null;
  /**
   * Names of all its election znodes, if they were read. There are several if another client created one by
   * hand.
   */
  readonly seatNames?: readonly string[] | undefined;
  /** What it measures. Missing if no node needs it, or if it measures nothing. */
  readonly scores?: ScoreReport | undefined;
};

/** Adds a node's report to its member. A report counts only for the incarnation that made it. */
export function withScores(member: Member, report: ScoreReport | null): Member {
  if (report?.node !== member.node || report.incarnation !== member.value?.incarnation) return member;
  return { ...member, scores: report };
}

/** This node's seat. */
export interface OwnSeat {
  readonly name: string;
  readonly version: number;
  /** The seat just below. Null for the elector. */
  readonly below: string | null;
  /** Whether the seat just below is the elector's. */
  readonly second: boolean;
}

/** The state of one slot. */
export interface SlotState {
  readonly slot: number;
  readonly elected: Versioned<Elected>;
  /** Also null if this node does not need to know it. */
  readonly current: Claim | null;
}

export interface GroupSnapshot {
  /** The slot of `elected`, `current` and `history`. Missing for the first slot. */
  readonly slot?: number | undefined;
  /** The other slots, in order. Missing if there are none. */
  readonly others?: readonly SlotState[] | undefined;
  readonly config: Versioned<GroupConfig>;
  readonly elected: Versioned<Elected>;
  readonly current: Claim | null;
  /** This node's own registration. */
  readonly self: Versioned<Registration> | null;
  readonly seat: OwnSeat | null;
  /** All nodes, if this node is the elector or watches it. Null if it does not need to know them. */
  readonly members: readonly Member[] | null;
  /** What was recorded last. Null if `members` is null or the znode is missing. */
  readonly history: Versioned<HistoryHead> | null;
  /**
   * The group that this group's leader must be near to or away from. Missing or null if there is none, or if
   * this node does not need to know it.
   */
  readonly neighbour?: Neighbour | null | undefined;
  /**
   * What the circuit breaker has counted. Missing or null if the group has none, or if this node does not
   * need to know it.
   */
  readonly circuitBreaker?: CircuitBreaker | null | undefined;
}

/**
 * Returns the node that owns a claim. Its session identifies it even if the claim's content is unreadable.
 */
export function claimOwner(claim: Claim, members: readonly Member[]): Member | null {
  return members.find((member) => member.owner === claim.owner) ?? null;
}

/** Returns the node that is READY. */
export function readyNode(current: Claim | null, members: readonly Member[]): string | null {
  return current?.value?.status === 'READY' ? (claimOwner(current, members)?.node ?? null) : null;
}

/** Returns the owner's name, even if the owner is no longer registered. */
export function ownerName(claim: Claim, members: readonly Member[]): string | null {
  return claimOwner(claim, members)?.node ?? claim.value?.node ?? null;
}

export function siteOf(node: string, members: readonly Member[]): string | null {
  return members.find((member) => member.node === node)?.value?.site ?? null;
}

export function incarnationKey({ node, owner }: Member): string {
  return `${node} ${owner}`;
}
