/** What a strategy is given, and what it gives. */
import type { z } from 'zod';
import type { Place } from './znodes.js';

/** A node that may lead. */
export interface Candidate {
  readonly node: string;
  readonly site: string;
  readonly priority: number;
  readonly sitePriority: number;
  /** Place among the seats, 0 the oldest; null while it has none. */
  readonly seat: number | null;
  readonly score: number | null;
  readonly tags: Readonly<Record<string, string>>;
}

export interface StrategyInput<Options> {
  /** In order of node ids. */
  readonly candidates: readonly Candidate[];
  /** The last node that was READY. */
  readonly previous: Place | null;
  readonly options: Options;
}

export interface Ranked {
  readonly node: string;
  /** 0 for the best. Leadership is never moved between nodes of one grade for the sake of rank. */
  readonly grade: number;
  /** Why it stands here, for people: continues "a1 was elected: …". */
  readonly reason: string;
}

/**
 * An order of nodes. A pure function: the same input gives the same order on every machine, with no clock,
 * chance or I/O. It ranks every candidate it is given, the best first, exactly once.
 */
export interface Strategy<Options = unknown> {
  readonly name: string;
  /** One line. */
  readonly description: string;
  readonly options: z.ZodType<Options>;
  rank(input: StrategyInput<Options>): readonly Ranked[];
}
