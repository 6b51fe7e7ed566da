/**
 * The scores of one node. Its sources measure scores, and its application can set other scores. All scores
 * are published to the node's group.
 */
import { type ReportingAgent, ScorePublisher } from '../agent/scores/score-publisher.js';
import { PetrelError } from '../errors.js';
import { systemProcesses } from '../hooks/system-processes.js';
import type { Logger } from '../log.js';
import { nameSchema } from '../model/names.js';
import { quoted } from '../model/outside.js';
import { plainMessage } from '../model/plain-message.js';
import { requestsScore, type Score } from '../model/scores.js';
import { systemClock } from '../ports/clock.js';
import { Measurements } from '../scores/measurements.js';
import { defaultTolerance, readScore, type Tolerance, toleranceSchema } from '../scores/measuring.js';
import { ScoreSources } from '../scores/score-sources.js';
import { mostScores, type SourcesByName } from '../scores/source.js';

export interface NodeScoresOptions {
  readonly sources: SourcesByName;
  readonly node: string;
  readonly root: string;
  readonly site: string;
  readonly log: Logger;
}

export class NodeScores {
  readonly #options: NodeScoresOptions;
  readonly #measurements = new Measurements();
  #sources: SourcesByName;
  #measuring: ScoreSources | null = null;
  #publisher: ScorePublisher | null = null;

  /** Prepares the scores. Measures nothing before `begin`. */
  constructor(options: NodeScoresOptions) {
    this.#options = options;
    this.#sources = options.sources;
  }

  /** The current scores, keyed by name. */
  get values(): ReadonlyMap<string, Score> {
    return this.#measurements.values;
  }

  /** Reported rate of client requests to the node. Null if the rate is not measured. */
  get requestsPerSecond(): number | null {
    const rate = this.values.get(requestsScore);
    return rate === undefined ? null : Number(rate);
  }

  /** Measures the scores and publishes them to the group through the agent's session, until `close`. */
  begin(agent: ReportingAgent, roundTrips?: () => ReadonlyMap<string, number>): void {
    const measurements = this.#measurements;
    const shared = { ...this.#options, measurements, clock: systemClock };
    this.#measuring = new ScoreSources(this.#sources, { ...shared, processes: systemProcesses });
    this.#publisher = new ScorePublisher({ ...shared, agent, roundTrips });
  }

  /** Replaces the sources of the scores. */
  use(sources: SourcesByName): void {
    this.#sources = sources;
    this.#measuring?.use(sources);
  }

  /**
   * Sets a score. Throws PetrelError INVALID for an invalid score or tolerance, or for a score that a source
   * measures.
   */
  report(name: string, score: Score | null, tolerance: Tolerance = defaultTolerance(name)): void {
    const problem = this.#problemOf(name, score) ?? toleranceProblem(tolerance);
    if (problem !== null) throw new PetrelError('INVALID', `setScore: ${problem}`);
    this.#measurements.report(name, score, tolerance);
  }

  /** Ends the measurements, and kills measurements that are still running. Never rejects. */
  async close(): Promise<void> {
    this.#publisher?.close();
    await this.#measuring?.close();
  }

  #problemOf(name: string, score: Score | null): string | null {
    const known = nameSchema.safeParse(name);
    if (!known.success) return `${quoted(name)}: ${plainMessage(known.error.issues[0]?.message ?? '')}`;
    if (Object.hasOwn(this.#sources, name))
      return `${name} has a configured source, so setScore cannot set it`;
    if (!this.#measurements.has(name) && this.#measurements.size >= mostScores)
      return `a node has at most ${mostScores} scores`;
    if (score === null) return null;
    const isNumber = typeof score === 'number' || typeof score === 'bigint';
    const read = isNumber ? readScore(String(score)) : null;
    if (read !== null && read.problem === null) return null;
    return `${name}: ${read?.problem ?? `expected a number, bigint or null, found ${quoted(score)}`}`;
  }
}

function toleranceProblem(tolerance: Tolerance): string | null {
  const read = toleranceSchema.safeParse(tolerance);
  return read.success ? null : `tolerance: ${plainMessage(read.error.issues[0]?.message ?? '')}`;
}
