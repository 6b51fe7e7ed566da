/**
 * What the members of a group have told of their scores, for who elects and who watches that: read where the
 * group's strategy compares it, every so often and when a node came or went, and kept between rounds. No
 * watch is left: a score that moves wakes nobody. Of requests the answers to probes tell what is newer than
 * any report, without a read or a write, as the heartbeats of Becker, Junqueira and Serafini do (2011).
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
  /** Requests a second that peers get from their clients, by node id; of those that said so just now. */
  heardRates(): ReadonlyMap<string, number>;
}

const none: ScoreReports = new Map();

/** A node that has just come tells its scores a moment later: so long they are looked for in between. */
const retryMs = 1_000;

interface Reading {
  readonly atMs: number;
  /** When all of them were read. */
  readonly wholeAtMs: number;
  /** Since when the nodes are these. */
  readonly sinceMs: number;
  readonly nodes: readonly string[];
  readonly reports: ScoreReports;
}

export interface ScoreReaderOptions {
  readonly paths: GroupPaths;
  readonly clock: Clock;
  readonly rules: Rules;
  /** Null, the default, where this node hears of none. */
  readonly probe?: RatesHeard | null | undefined;
}

export class ScoreReader {
  readonly #paths: GroupPaths;
  readonly #clock: Clock;
  readonly #rules: Rules;
  readonly #probes: RatesHeard | null;
  /**
   * How often they are read while the same nodes are there; null: nobody compares them. By the last
   * configuration that could be read, as the elector decides.
   */
  #everyMs: number | null = null;
  #last: Reading | null = null;

  constructor({ paths, clock, rules, probe = null }: ScoreReaderOptions) {
    this.#paths = paths;
    this.#clock = clock;
    this.#rules = rules;
    this.#probes = probe;
  }

  /** When the next round is worth having for the sake of scores; Infinity where nobody compares them. */
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
   * The reports of these nodes, as they were read last and heard since. Throws StoreError. `config`: null
   * where it cannot be read.
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
    // Whoever replaces a leader that is gone goes by what the others tell now.
    const isSame = this.#last !== null && isDeepStrictEqual(this.#last.nodes, sorted);
    if (this.#last === null || !isSame || this.nextInMs <= 0)
      this.#last = await this.#readAnew(store, sorted, isSame ? this.#last : null, this.#everyMs);
    return withHeard(this.#last.reports, this.#probes?.heardRates() ?? new Map());
  }

  async #readAnew(
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

  /** Who may be about to tell its scores; one that has told none for long measures nothing. */
  #missing({ nodes, reports, sinceMs }: Reading, everyMs: number): readonly string[] {
    const isNew = this.#clock.monotonicMs() < sinceMs + everyMs;
    return isNew ? nodes.filter((node) => !reports.has(node)) : [];
  }
}

/** Of nodes that have told something: the report says of which life. */
function withHeard(reports: ScoreReports, rates: ReadonlyMap<string, number>): ScoreReports {
  return new Map(
    [...reports].map(([node, report]) => {
      const rate = rates.get(node);
      if (rate === undefined) return [node, report];
      return [node, { ...report, values: new Map([...report.values, [requestsScore, rate]]) }];
    }),
  );
}

/** One request for each node. What is not there or cannot be read is left out. Throws StoreError. */
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
