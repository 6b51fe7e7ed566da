/**
 * Measures the scores of a node within the agent itself. Each score has its own interval, and at most one
 * measurement of a score runs at a time.
 *
 * If a source fails, its score remains valid until its last value is too old. The log does not report each
 * failure. It reports when a source starts to fail. It reports a recovery when the source has worked without
 * a failure for as long as the maximum age of a value.
 */
import { isDeepStrictEqual } from 'node:util';
import { Alarm } from '../hooks/alarm.js';
import type { Logger } from '../log.js';
import { durationMs } from '../model/duration.js';
import type { Score } from '../model/scores.js';
import type { Machine } from '../ports/processes.js';
import { CommandMeasurer } from './command-measurer.js';
import type { Measurements } from './measurements.js';
import type { Measurer } from './measurer.js';
import { defaultTolerance } from './measuring.js';
import { metricMeasurer, numberMeasurer } from './page-measurer.js';
import { maxAgeMs, type ScoreSource, type SourcesByName } from './source.js';

export interface ScoreSourcesOptions extends Machine {
  readonly node: string;
  readonly root: string;
  readonly site: string;
  readonly measurements: Measurements;
  readonly log: Logger;
}

export class ScoreSources {
  readonly #options: ScoreSourcesOptions;
  readonly #running = new Map<string, Measuring>();
  readonly #closing = new Set<Promise<void>>();

  /** Measures all scores immediately, and repeats until `close`. */
  constructor(sources: SourcesByName, options: ScoreSourcesOptions) {
    this.#options = options;
    this.use(sources);
  }

  /**
   * Replaces the sources. If the source of a score changes, the score keeps its value until it is measured
   * again or the value is too old.
   */
  use(sources: SourcesByName): void {
    for (const [name, { source }] of [...this.#running]) {
      if (isDeepStrictEqual(sources[name], source)) continue;
      this.#end(name);
      if (!Object.hasOwn(sources, name)) this.#options.measurements.drop(name);
    }
    for (const [name, source] of Object.entries(sources)) {
      if (this.#running.has(name)) continue;
      this.#running.set(name, new Measuring(name, source, this.#options));
    }
  }

  /** Cancels all measurements that are running. Never rejects. */
  async close(): Promise<void> {
    for (const name of [...this.#running.keys()]) this.#end(name);
    await Promise.all(this.#closing);
  }

  #end(name: string): void {
    const ending = this.#running.get(name)?.close() ?? Promise.resolve();
    this.#running.delete(name);
    this.#closing.add(ending);
    void ending.then(() => this.#closing.delete(ending));
  }
}

/** The repeated measurement of one score. */
class Measuring {
  readonly source: ScoreSource;
  readonly #name: string;
  readonly #options: ScoreSourcesOptions;
  readonly #measurer: Measurer;
  readonly #next: Alarm;
  /** Fires when the last value is too old to count. */
  readonly #tooOld: Alarm;
  readonly #maxAgeMs: number;
  /** Time of the last failure. Null if the source has not failed recently. */
  #failedAtMs: number | null = null;
  #closed = false;

  constructor(name: string, source: ScoreSource, options: ScoreSourcesOptions) {
    this.#name = name;
    this.source = source;
    this.#options = options;
    this.#measurer = measurerFor(name, source, options);
    this.#next = new Alarm(options.clock);
    this.#tooOld = new Alarm(options.clock);
    this.#maxAgeMs = maxAgeMs(source);
    this.#ageFromNow();
    void this.#measure();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#next.clear();
    this.#tooOld.clear();
    await this.#measurer.close();
  }

  async #measure(): Promise<void> {
    const { clock } = this.#options;
    const startedAtMs = clock.monotonicMs();
    const { value, problem } = await this.#measurer.measure();
    if (this.#closed) return;
    if (problem === null) this.#succeeded(value);
    else this.#failed(problem);
    this.#next.set(startedAtMs + durationMs(this.source.every), () => void this.#measure());
  }

  #succeeded(score: Score | null): void {
    const { measurements, log, clock } = this.#options;
    if (score !== null) {
      this.#ageFromNow();
      measurements.report(this.#name, score, this.source.tolerance ?? defaultTolerance(this.#name));
    }
    if (this.#failedAtMs === null || clock.monotonicMs() - this.#failedAtMs < this.#maxAgeMs) return;
    this.#failedAtMs = null;
    log.info({ score: this.#name }, `score ${this.#name} can be measured again`);
  }

  #failed(problem: string): void {
    const { log, clock } = this.#options;
    const isNews = this.#failedAtMs === null;
    this.#failedAtMs = clock.monotonicMs();
    if (!isNews) return;
    const age = `its last value remains valid for at most ${Math.round(this.#maxAgeMs / 1000)} s`;
    log.warn({ score: this.#name }, `cannot measure score ${this.#name} (${age}): ${problem}`);
  }

  #ageFromNow(): void {
    const { clock, measurements } = this.#options;
    this.#tooOld.set(clock.monotonicMs() + this.#maxAgeMs, () => measurements.report(this.#name, null));
  }
}

function measurerFor(name: string, source: ScoreSource, options: ScoreSourcesOptions): Measurer {
  const timeoutMs = durationMs(source.timeout);
  if ('http' in source) return numberMeasurer(source.http, timeoutMs);
  if ('prometheus' in source) return metricMeasurer(source, options.clock);
  const { node, root, site, clock, processes } = options;
  const env = { PETREL_ROOT: root, PETREL_NODE: node, PETREL_SITE: site };
  return new CommandMeasurer({ name, command: source.command, timeoutMs, env, clock, processes });
}
