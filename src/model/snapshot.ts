/**
 * The state of a group as one node read it, in one immutable value per round. Every decision is based on a
 * snapshot, never on an event. Each part records whether its content was readable. An unreadable part never
 * makes the other parts unusable.
 */

import type { GroupConfig } from './group-config.js';
import type { Parsed } from './names.js';
import type { Neighbour } from './neighbour.js';
import type { Registration } from './registration.js';
import type { ScoreReport } from './scores.js';
import type { CircuitBreakerRecord, ClaimContent, Elected, HistoryHead, Successor } from './znodes.js';

export type SessionId = bigint;

/** Content of a znode with the version that was read. */
export type Versioned<T> = Parsed<T> & { readonly version: number; readonly modifiedAtMs: number };

/**
 * Returns a key that identifies one write among all writes to a path. The version alone is not enough,
 * because versions start over when a znode is deleted and created again.
 */
export function writeOf({ version, modifiedAtMs }: Versioned<unknown>): string {
  return `${version}@${modifiedAtMs}`;
}

/** The `leader/current` znode, as it was read. */
export type Claim = Versioned<ClaimContent> & {
  /** Fencing token of the claim. */
  readonly token: bigint;
  readonly owner: SessionId;
  readonly createdAtMs: number;
};

/** A group's circuit breaker, as it was read. */
export interface CircuitBreaker {
  readonly path: string;
  /** Root of the group that uses the circuit breaker. */
  readonly root: string;
  readonly record: CircuitBreakerRecord;
  readonly version: number;
}

/** A registered node. */
export type Member = Versioned<Registration> & {
  readonly node: string;
  readonly owner: SessionId;
  /** Position of the node's seat among all seats, with 0 for the elector. Null if the node has no seat. */
  readonly seat: number | null;
  /**
   * Names of all election znodes of the node, if they were read. There are several if another client created
   * one manually.
   */
  readonly seatNames?: readonly string[] | undefined;
  /** The node's measurements. Missing if no node needs them, or if the node measures nothing. */
  readonly scores?: ScoreReport | undefined;
};

/** Returns the member with its report added. A report that another incarnation wrote is ignored. */
export function withScores(member: Member, report: ScoreReport | null): Member {
  if (report?.node !== member.node || report.incarnation !== member.value?.incarnation) return member;
  return { ...member, scores: report };
}

/** This node's own seat. */
export interface OwnSeat {
  readonly name: string;
  readonly version: number;
  /** Name of the predecessor, the seat just below this one. Null for the elector. */
  readonly below: string | null;
  /** Whether this node is the next elector, that is, whether the seat just below is the elector's. */
  readonly second: boolean;
}

/** The state of one slot. */
export interface SlotState {
  readonly slot: number;
  readonly elected: Versioned<Elected>;
  /** The slot's claim. Null if there is none, or if this node does not need to know it. */
  readonly current: Claim | null;
}

export interface GroupSnapshot {
  /**
   * Version of the published successor, if this snapshot was not read but assumed from that successor. A
   * claim that is based on the snapshot must check this version. No other write can be based on the snapshot,
   * because the snapshot has no claim. Missing if the snapshot was read.
   */
  readonly assumedFrom?: number | undefined;
  /** The slot to which `elected`, `current` and `history` belong. Missing for the first slot. */
  readonly slot?: number | undefined;
  /** State of the other slots, in order. Missing if there are none. */
  readonly others?: readonly SlotState[] | undefined;
  readonly config: Versioned<GroupConfig>;
  readonly elected: Versioned<Elected>;
  readonly current: Claim | null;
  /** This node's own registration. */
  readonly self: Versioned<Registration> | null;
  readonly seat: OwnSeat | null;
  /**
   * All registered nodes, if this node is the elector or watches the elector. Null if this node does not need
   * to know them.
   */
  readonly members: readonly Member[] | null;
  /**
   * The head of the history. It describes the last record. Null if `members` is null or the znode is missing.
   */
  readonly history: Versioned<HistoryHead> | null;
  /**
   * What the elector has published about the leader's successor. Null if the znode does not exist. Missing if
   * this node does not need to know it, or if the group has several leaders.
   */
  readonly successor?: Versioned<Successor> | null | undefined;
  /**
   * The other group in this group's affinity rule. Missing or null if there is no such rule, or if this node
   * does not need to know it.
   */
  readonly neighbour?: Neighbour | null | undefined;
  /**
   * Moves that the circuit breaker has counted. Missing or null if the group has no circuit breaker, or if
   * this node does not need to know them.
   */
  readonly circuitBreaker?: CircuitBreaker | null | undefined;
}

/**
 * Returns the node that owns a claim. Returns null if the owner is not registered. The session identifies the
 * owner even if the claim's content is unreadable.
 */
export function claimOwner(claim: Claim, members: readonly Member[]): Member | null {
  return members.find((member) => member.owner === claim.owner) ?? null;
}

/** Returns the node that is READY. Returns null if there is none. */
export function readyNode(current: Claim | null, members: readonly Member[]): string | null {
  return current?.value?.status === 'READY' ? (claimOwner(current, members)?.node ?? null) : null;
}

/**
 * Returns the name of a claim's owner, even if the owner is no longer registered. Returns null if the name is
 * unknown.
 */
export function ownerName(claim: Claim, members: readonly Member[]): string | null {
  return claimOwner(claim, members)?.node ?? claim.value?.node ?? null;
}

export function siteOf(node: string, members: readonly Member[]): string | null {
  return members.find((member) => member.node === node)?.value?.site ?? null;
}

export function incarnationKey({ node, owner }: Member): string {
  return `${node} ${owner}`;
}
