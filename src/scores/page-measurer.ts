/**
 * Reads scores over HTTP. A score is either a response body that is a number, or a metric on a Prometheus
 * page.
 */

import { errorMessage } from '../errors.js';
import { durationMs } from '../model/duration.js';
import type { Parsed } from '../model/names.js';
import { firstOf } from '../model/outside.js';
import type { Score } from '../model/scores.js';
import type { Clock } from '../ports/clock.js';
import { CounterRate } from './counter-rate.js';
import type { Measurer } from './measurer.js';
import { readScore } from './measuring.js';
import { fetchText } from './page.js';
import { findSeries, type Series } from './prometheus.js';
import { maxAgeMs, type PrometheusSource } from './source.js';

const longestNumber = 1024;
const longestPage = 16 * 1024 * 1024;

export interface PageMeasurerOptions {
  readonly address: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Reads the score from the text of the page. */
  read(text: string): Parsed<Score | null>;
}

class PageMeasurer implements Measurer {
  readonly #options: PageMeasurerOptions;
  #asking = new AbortController();
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(options: PageMeasurerOptions) {
    this.#options = options;
  }

  async measure(): Promise<Parsed<Score | null>> {
    const { address, read } = this.#options;
    // Use one controller per request: a longer-lived signal would keep references to all previous requests.
    this.#asking = new AbortController();
    const fetching = fetchText(address, this.#options, this.#asking.signal);
    this.#underWay = fetching.catch(() => {});
    try {
      const result = read(await fetching);
      return result.problem === null ? result : { value: null, problem: `${address}: ${result.problem}` };
    } catch (error) {
      return { value: null, problem: `${address}: ${errorMessage(error)}` };
    }
  }

  async close(): Promise<void> {
    this.#asking.abort(new Error('closed'));
    await this.#underWay;
  }
}

export function numberMeasurer(address: string, timeoutMs: number): Measurer {
  return new PageMeasurer({ address, timeoutMs, maxBytes: longestNumber, read: readScore });
}

export function metricMeasurer(source: PrometheusSource, clock: Clock): Measurer {
  const { prometheus: address, metric, labels, timeout } = source;
  const rate = source.rate ? new CounterRate(maxAgeMs(source)) : null;
  return new PageMeasurer({
    address,
    timeoutMs: durationMs(timeout),
    maxBytes: longestPage,
    read(page) {
      const found = findSeries(page, metric, labels);
      if (found.problem !== null) return found;
      if (found.value.length === 0) return { value: null, problem: `no series matches ${selector(source)}` };
      if (rate !== null) return readRate(found.value, rate, clock.monotonicMs());
      return readOne(found.value, source);
    },
  });
}

function readOne(found: readonly Series[], source: PrometheusSource): Parsed<Score> {
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return readScore(only.value);
  const problem = `${found.length} series match ${selector(source)}, such as ${firstOf(found.slice(0, 2).map(labelText)).join(' and ')}: add labels that select only one`;
  return { value: null, problem };
}

/**
 * Returns the rate of all series together. A service's request rate, for example, is the sum over all kinds
 * of requests.
 */
function readRate(found: readonly Series[], rate: CounterRate, atMs: number): Parsed<number | null> {
  const counters = new Map<string, Score>();
  for (const series of found) {
    const read = readScore(series.value);
    if (read.problem !== null) return read;
    counters.set(labelText(series), read.value);
  }
  const perSecond = rate.add({ atMs, counters });
  if (perSecond === null || Number.isFinite(perSecond)) return { value: perSecond, problem: null };
  return { value: null, problem: 'the counters grew by more than a number can represent' };
}

function selector({ metric, labels }: PrometheusSource): string {
  return `${metric}${labelText({ labels: new Map(Object.entries(labels)) })}`;
}

function labelText({ labels }: Pick<Series, 'labels'>): string {
  if (labels.size === 0) return '';
  const texts = [...labels].map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `{${texts.join(',')}}`;
}
