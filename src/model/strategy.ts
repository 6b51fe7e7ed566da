/** A strategy: its input and its output. */
import type * as z from 'zod';
import type { Score } from './scores.js';
import type { Place } from './znodes.js';

/** Conditions of a decision: what a strategy may consider in addition to the candidates. */
export interface Conditions {
  /**
   * The kind of decision: `failure` for the successor of a failed leader or candidate, `planned` for anything
   * else. While the elected node could continue, this keeps the value that it was elected under. So a leader
   * is not replaced merely because the failure is over.
   */
  readonly after: 'failure' | 'planned';
  /** The site of the leader that failed. Set after a failure. */
  readonly failedSite: string | null;
  /** On the ensemble's clock, in UTC, from 0 to 1439. */
  readonly minuteOfDay: number;
  /** Number of registered nodes, and of eligible nodes among them. */
  readonly registered: number;
  readonly eligible: number;
  /** Flags that operators have set, in order. */
  readonly flags: readonly string[];
}

/** An eligible node. */
export interface Candidate {
  readonly node: string;
  readonly site: string;
  readonly priority: number;
  readonly sitePriority: number;
  /** Position among the seats, 0 for the oldest. Null while it has none. */
  readonly seat: number | null;
  /** Its own scores, by name. A score that was not measured recently is missing. */
  readonly scores: ReadonlyMap<string, Score>;
  readonly tags: Readonly<Record<string, string>>;
}

/** A registered node, eligible or not: its clients and its votes count. A node that crashed is not a peer. */
export interface Peer {
  readonly node: string;
  readonly site: string;
  readonly scores: ReadonlyMap<string, Score>;
  /** By node id: the round-trip time, as this node measured it. */
  readonly roundTripsMs: ReadonlyMap<string, number>;
}

export interface StrategyInput<Options> {
  /** In order of node ids. */
  readonly candidates: readonly Candidate[];
  /** The last node that was READY. */
  readonly previous: Place | null;
  /** The candidates and the other registered nodes, in order of node ids. */
  readonly peers: readonly Peer[];
  /**
   * The node that leads and could continue. Null if the leader must be replaced. A strategy that compares
   * measurements ranks another node above this one only by a margin, so that noise moves nothing.
   */
  readonly incumbent: string | null;
  /** The term that a new decision would begin. */
  readonly term: number;
  readonly conditions: Conditions;
  readonly options: Options;
}

export interface Ranked {
  readonly node: string;
  /** 0 is the best. Rank alone never moves leadership between nodes of one grade. */
  readonly grade: number;
  /** Why the node has this rank, for display. Continues "a1 was elected: …". */
  readonly reason: string;
  /**
   * The rule that orders this node among others of its grade, for display. Missing if the reason contains it.
   */
  readonly tie?: string | undefined;
  /** The number that it was compared by first, if there is one. */
  readonly score?: number | undefined;
}

/**
 * A ranking of nodes. A pure function: the same input gives the same order on every machine. It uses no
 * clock, randomness or I/O. It ranks every candidate exactly once, best first.
 */
export interface Strategy<Options = unknown> {
  readonly name: string;
  /** One line. */
  readonly description: string;
  /**
   * Whether it compares scores or round trips. If so, the nodes' measurements are read for it. Default:
   * false.
   */
  readonly usesScores?: boolean;
  readonly options: z.ZodType<Options>;
  rank(input: StrategyInput<Options>): readonly Ranked[];
}
