/** The types of a strategy, its input and its output. */
import type * as z from 'zod';
import type { Score } from './scores.js';
import type { Place } from './znodes.js';

/** Conditions of a decision: what a strategy may consider in addition to the candidates. */
export interface Conditions {
  /**
   * The kind of decision. `failure` means that the decision replaces a failed leader or candidate. `planned`
   * covers all other decisions. As long as the elected node can continue, this keeps the value under which
   * that node was elected. A leader is therefore not replaced merely because the failure is over.
   */
  readonly after: 'failure' | 'planned';
  /** The site of the leader that failed. Null if the decision does not follow a failure. */
  readonly failedSite: string | null;
  /** Minute of the day on the ensemble's clock in UTC, from 0 to 1439. */
  readonly minuteOfDay: number;
  /** Number of registered nodes. `eligible` is the number of eligible nodes among them. */
  readonly registered: number;
  readonly eligible: number;
  /** Flags that operators have set, sorted. */
  readonly flags: readonly string[];
}

/** An eligible node. */
export interface Candidate {
  readonly node: string;
  readonly site: string;
  readonly priority: number;
  readonly sitePriority: number;
  /** Position of the node's seat among all seats, with 0 for the oldest. Null while the node has no seat. */
  readonly seat: number | null;
  /** The node's own scores, by name. A score that was not measured recently is missing. */
  readonly scores: ReadonlyMap<string, Score>;
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * A registered node, whether eligible or not. The clients and the vote of an ineligible node also count. A
 * node that crashed is not a peer.
 */
export interface Peer {
  readonly node: string;
  readonly site: string;
  readonly scores: ReadonlyMap<string, Score>;
  /** Round-trip times that this node measured, by the peer's node id. */
  readonly roundTripsMs: ReadonlyMap<string, number>;
}

export interface StrategyInput<Options> {
  /** The eligible nodes, ordered by node id. */
  readonly candidates: readonly Candidate[];
  /** The last node that was READY. Null if there has been none. */
  readonly previous: Place | null;
  /** The candidates and all other registered nodes, ordered by node id. */
  readonly peers: readonly Peer[];
  /**
   * The current leader, if it can continue. Null if the leader must be replaced. A strategy that compares
   * measurements ranks another node above the incumbent only if that node is better by a margin. Otherwise,
   * noise would move leadership.
   */
  readonly incumbent: string | null;
  /** The term that a new decision would begin. */
  readonly term: number;
  readonly conditions: Conditions;
  readonly options: Options;
}

export interface Ranked {
  readonly node: string;
  /**
   * Grade of the node, a finite number. The smallest is the best. A better rank within the same grade never
   * moves leadership.
   */
  readonly grade: number;
  /** Why the node has this rank, for display. The text completes "a1 was elected: …". */
  readonly reason: string;
  /**
   * The rule that orders this node among other nodes of its grade, for display. Missing if the reason
   * contains it.
   */
  readonly tie?: string | undefined;
  /** The first number by which the node was compared. Missing if there is none. */
  readonly score?: number | undefined;
}

/**
 * A strategy ranks nodes. `rank` is a pure function: the same input gives the same order on every machine. It
 * does not use a clock, randomness or I/O. It ranks every candidate exactly once, best first.
 */
export interface Strategy<Options = unknown> {
  readonly name: string;
  /** Description of the strategy, as one line. */
  readonly description: string;
  /**
   * Whether the strategy compares scores or round-trip times. If it does, the elector reads the nodes'
   * measurements. Default: false.
   */
  readonly usesScores?: boolean;
  readonly options: z.ZodType<Options>;
  rank(input: StrategyInput<Options>): readonly Ranked[];
}
