/** What a strategy is given, and what it gives. */
import type * as z from 'zod';
import type { Score } from './scores.js';
import type { Place } from './znodes.js';

/** Conditions of a decision: what a strategy may consider besides the candidates. */
export interface Conditions {
  /**
   * What the decision is about: the successor of a leader, or a candidate, that failed; or anything else.
   * While the elected node could go on it is what it was elected for, so that a leader is not left for no
   * more than that the failure is over.
   */
  readonly after: 'failure' | 'planned';
  /** The site of the leader that failed, after a failure. */
  readonly failedSite: string | null;
  /** On the ensemble's clock, in UTC, from 0 to 1439. */
  readonly minuteOfDay: number;
  /** Nodes that are registered, and how many of them are eligible to lead. */
  readonly registered: number;
  readonly eligible: number;
  /** Those that operators have set, in order. */
  readonly flags: readonly string[];
}

/** A node that may lead. */
export interface Candidate {
  readonly node: string;
  readonly site: string;
  readonly priority: number;
  readonly sitePriority: number;
  /** Place among the seats, 0 the oldest; null while it has none. */
  readonly seat: number | null;
  /** What it measures of itself, by name; what it did not measure lately is missing. */
  readonly scores: ReadonlyMap<string, Score>;
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * A node that is registered, eligible to lead or not: its clients and its votes count. Whoever crashed is
 * none.
 */
export interface Peer {
  readonly node: string;
  readonly site: string;
  readonly scores: ReadonlyMap<string, Score>;
  /** By node id: the time there and back, as this node measured it. */
  readonly roundTripsMs: ReadonlyMap<string, number>;
}

export interface StrategyInput<Options> {
  /** In order of node ids. */
  readonly candidates: readonly Candidate[];
  /** The last node that was READY. */
  readonly previous: Place | null;
  /** In order of node ids: the candidates, and who is registered beside them. */
  readonly peers: readonly Peer[];
  /**
   * Who leads and could go on; null where the leader has to be replaced. A strategy that compares
   * measurements grades another better than this one only by a margin, so that noise moves nothing.
   */
  readonly incumbent: string | null;
  /** The term that a new decision would begin. */
  readonly term: number;
  readonly conditions: Conditions;
  readonly options: Options;
}

export interface Ranked {
  readonly node: string;
  /** 0 for the best. Leadership is never moved between nodes of one grade for the sake of rank. */
  readonly grade: number;
  /** Why it stands here, for people: continues "a1 was elected: …". */
  readonly reason: string;
  /** The rule that orders this node and others of its grade, for people; missing where the reason says it. */
  readonly tie?: string | undefined;
  /** What it was compared by first, where that is a number. */
  readonly score?: number | undefined;
}

/**
 * An order of nodes. A pure function: the same input gives the same order on every machine, with no clock,
 * chance or I/O. It ranks every candidate it is given, the best first, exactly once.
 */
export interface Strategy<Options = unknown> {
  readonly name: string;
  /** One line. */
  readonly description: string;
  /** It compares scores or round trips: what nodes measure is read for it. Default false. */
  readonly usesScores?: boolean;
  readonly options: z.ZodType<Options>;
  rank(input: StrategyInput<Options>): readonly Ranked[];
}
