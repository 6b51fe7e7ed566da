/**
 * What the members of a group have told of their scores, for who elects and who watches that: read where the group's
 * strategy compares it, every so often and when a node came or went, and kept between rounds. No watch is left: a score
 * that moves wakes nobody.
 */
import type { GroupConfig } from '../core/group-config.js';
import { parseJson } from '../core/names.js';
import type { GroupPaths } from '../core/paths.js';
import { usesScores } from '../core/read-config.js';
import { type ScoreReport, scoreReportSchema } from '../core/scores.js';
import type { Member } from '../core/snapshot.js';
import type { Clock } from '../ports/clock.js';
import { isStoreError, type Store } from '../ports/store.js';

export type ScoreReports = ReadonlyMap<string, ScoreReport>;

/** How often scores are read while the same nodes are there. */
export const readScoresEveryMs = 10_000;

const none: ScoreReports = new Map();

export class ScoreReader {
  readonly #paths: GroupPaths;
  readonly #clock: Clock;
  /** By the last configuration that could be read, as the elector decides by it. */
  #isNeeded = false;
  #read: { readonly atMs: number; readonly of: string; readonly reports: ScoreReports } | null = null;

  constructor(paths: GroupPaths, clock: Clock) {
    this.#paths = paths;
    this.#clock = clock;
  }

  /** When the next round is worth having for the sake of scores; Infinity where nobody compares them. */
  get nextInMs(): number {
    if (!this.#isNeeded) return Number.POSITIVE_INFINITY;
    return this.#read === null ? 0 : this.#read.atMs + readScoresEveryMs - this.#clock.monotonicMs();
  }

  /** The reports of these nodes, as they were read last. Throws StoreError. `config`: null where it cannot be read. */
  async read(store: Store, config: GroupConfig | null, nodes: readonly string[]): Promise<ScoreReports> {
    if (config !== null) this.#isNeeded = usesScores(config);
    if (!this.#isNeeded) {
      this.#read = null;
      return none;
    }
    // Whoever replaces a leader that is gone goes by what the others tell now.
    const of = nodes.toSorted().join(' ');
    if (this.#read?.of === of && this.nextInMs > 0) return this.#read.reports;
    const atMs = this.#clock.monotonicMs();
    const reports = await readReports(store, this.#paths, nodes);
    this.#read = { atMs, of, reports };
    return reports;
  }
}

/** One request for each node. What is not there, cannot be read or names another node is left out. Throws StoreError. */
export async function readReports(
  store: Store,
  paths: GroupPaths,
  nodes: readonly string[],
): Promise<ScoreReports> {
  const reads = nodes.map(async (node): Promise<[string, ScoreReport][]> => {
    const report = await readReport(store, paths.score(node));
    return report?.node === node ? [[node, report]] : [];
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

/** A report counts for the life that made it. */
export function withScores(member: Member, reports: ScoreReports | null): Member {
  const report = reports?.get(member.node);
  return report === undefined || report.incarnation !== member.value?.incarnation
    ? member
    : { ...member, scores: report };
}
