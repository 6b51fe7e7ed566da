/**
 * Reads the scores that the members of a group have published, for the elector and the next elector. Scores
 * are read only if the group's strategy compares them. They are read periodically, and also when a node has
 * joined or left. The reader keeps the scores between rounds. It sets no watch, so a changed score wakes no
 * node.
 *
 * Answers to probes also contain request rates. These rates are newer than those in any report, and cost no
 * read or write. The heartbeats of Becker, Junqueira and Serafini (2011) work in the same way.
 */

import { isDeepStrictEqual } from 'node:util';
import type { Rules } from '../../../strategies/registry.js';
import { durationMs } from '../../model/duration.js';
import type { GroupConfig } from '../../model/group-config.js';
import { parseJson } from '../../model/names.js';
import type { GroupPaths } from '../../model/paths.js';
import { usesScores } from '../../model/read-config.js';
import { requestsScore, type ScoreReport, scoreReportSchema } from '../../model/scores.js';
import type { Clock } from '../../ports/clock.js';
import { isStoreError, type Store } from '../../ports/store.js';

export type ScoreReports = ReadonlyMap<string, ScoreReport>;

export interface RatesHeard {
  /**
   * Requests per second that peers receive from their clients, keyed by node id. Contains only recently
   * reported rates.
   */
  heardRates(): ReadonlyMap<string, number>;
}

const none: ScoreReports = new Map();

/**
 * Interval at which missing scores are read again. A node that has just joined publishes its scores soon
 * afterwards.
 */
const retryMs = 1_000;

interface Reading {
  readonly atMs: number;
  /** Instant at which all reports were last read together. */
  readonly wholeAtMs: number;
  /** Instant of the first read of the current set of nodes. */
  readonly sinceMs: number;
  readonly nodes: readonly string[];
  readonly reports: ScoreReports;
}

export interface ScoreReaderOptions {
  readonly paths: GroupPaths;
  readonly clock: Clock;
  readonly rules: Rules;
  /** Rates from answers to probes. Null (the default) if this node receives none. */
  readonly probe?: RatesHeard | null | undefined;
}

export class ScoreReader {
  readonly #paths: GroupPaths;
  readonly #clock: Clock;
  readonly #rules: Rules;
  readonly #probes: RatesHeard | null;
  /**
   * Interval between reads while the set of nodes does not change. Null if no rule compares scores. The
   * interval, like the elector's decisions, is based on the last readable configuration.
   */
  #everyMs: number | null = null;
  #last: Reading | null = null;

  constructor({ paths, clock, rules, probe = null }: ScoreReaderOptions) {
    this.#paths = paths;
    this.#clock = clock;
    this.#rules = rules;
    this.#probes = probe;
  }

  /** Time until scores must be read again. Infinity if no rule compares scores. */
  get nextInMs(): number {
    if (this.#everyMs === null) return Number.POSITIVE_INFINITY;
    if (this.#last === null) return 0;
    const { atMs, wholeAtMs } = this.#last;
    const missing = this.#missing(this.#last, this.#everyMs);
    const dueAtMs = Math.min(
      wholeAtMs + this.#everyMs,
      missing.length > 0 ? atMs + retryMs : Number.POSITIVE_INFINITY,
    );
    return dueAtMs - this.#clock.monotonicMs();
  }

  /**
   * Returns the last reports of these nodes, updated with the rates received since then. `config` is null if
   * it is unreadable. Throws StoreError.
   */
  async read(store: Store, config: GroupConfig | null, nodes: readonly string[]): Promise<ScoreReports> {
    if (config !== null) {
      this.#everyMs = usesScores(config, this.#rules) ? durationMs(config.stabilization.interval) : null;
    }
    if (this.#everyMs === null) {
      this.#last = null;
      return none;
    }
    const sorted = nodes.toSorted();
    // The choice of a lost leader's successor requires current scores of the other nodes.
    const isSame = this.#last !== null && isDeepStrictEqual(this.#last.nodes, sorted);
    if (this.#last === null || !isSame || this.nextInMs <= 0)
      this.#last = await this.#readAgain(store, sorted, isSame ? this.#last : null, this.#everyMs);
    return withHeard(this.#last.reports, this.#probes?.heardRates() ?? new Map());
  }

  async #readAgain(
    store: Store,
    nodes: readonly string[],
    last: Reading | null,
    everyMs: number,
  ): Promise<Reading> {
    const atMs = this.#clock.monotonicMs();
    if (last !== null && atMs < last.wholeAtMs + everyMs) {
      const found = await readReports(store, this.#paths, this.#missing(last, everyMs));
      return { ...last, atMs, reports: new Map([...last.reports, ...found]) };
    }
    const reports = await readReports(store, this.#paths, nodes);
    return { atMs, wholeAtMs: atMs, sinceMs: last?.sinceMs ?? atMs, nodes, reports };
  }

  /**
   * Returns the nodes that may be about to publish scores. If a node has published no scores for a long time,
   * it is assumed to measure nothing.
   */
  #missing({ nodes, reports, sinceMs }: Reading, everyMs: number): readonly string[] {
    const isNew = this.#clock.monotonicMs() < sinceMs + everyMs;
    return isNew ? nodes.filter((node) => !reports.has(node)) : [];
  }
}

/**
 * Adds the rates to the reports. Omits nodes without a report, because only a report names the incarnation.
 */
function withHeard(reports: ScoreReports, rates: ReadonlyMap<string, number>): ScoreReports {
  return new Map(
    [...reports].map(([node, report]) => {
      const rate = rates.get(node);
      if (rate === undefined) return [node, report];
      return [node, { ...report, values: new Map([...report.values, [requestsScore, rate]]) }];
    }),
  );
}

/**
 * Reads the reports with one request for each node. Omits reports that do not exist or are unreadable. Throws
 * StoreError.
 */
async function readReports(store: Store, paths: GroupPaths, nodes: readonly string[]): Promise<ScoreReports> {
  const reads = nodes.map(async (node): Promise<[string, ScoreReport][]> => {
    const report = await readReport(store, paths.score(node));
    return report === null ? [] : [[node, report]];
  });
  return new Map((await Promise.all(reads)).flat());
}

async function readReport(store: Store, path: string): Promise<ScoreReport | null> {
  try {
    const { data } = await store.getData(path);
    return parseJson(scoreReportSchema, data.toString('utf8')).value;
  } catch (error) {
    if (isStoreError(error, 'NO_NODE', 'NO_AUTH')) return null;
    throw error;
  }
}
