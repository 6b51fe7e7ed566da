/**
 * Checks of metrics as a scraper sees them: the samples of a page, the verdict of Debian's promtool, and a
 * Prometheus that scrapes.
 */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { exitOf, spawnBound } from './bound-process.js';
import { freePorts } from './ports.js';
import { until } from './until.js';

/** Tests that need Prometheus report it when it is missing. */
export const hasPrometheus = spawnSync('promtool', ['--version']).status === 0;
export const notHere = hasPrometheus
  ? ''
  : ' (not here: no prometheus; on Debian: apt-get install prometheus)';

/** The samples of one page: their names with labels, as written, and their values. */
export class Page {
  readonly text: string;
  readonly samples: ReadonlyMap<string, number>;

  constructor(text: string) {
    this.text = text;
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    this.samples = new Map(
      lines.map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
    );
  }

  /**
   * Returns the value of the only sample that has this name and these labels. Write a label as
   * `state="connected"`. Returns undefined if there is no such sample.
   */
  value(name: string, ...labels: string[]): number | undefined {
    const found = [...this.samples].filter(
      ([series]) => series.split('{')[0] === name && labels.every((label) => series.includes(label)),
    );
    if (found.length > 1)
      throw new Error(`${name} {${labels}} is ambiguous: ${found.map(([series]) => series)}`);
    return found[0]?.[1];
  }

  /** Names of the metrics, without the parts of histograms. */
  get names(): string[] {
    return [...this.text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
  }
}

export async function scrape(url: string): Promise<Page> {
  const response = await fetch(`${url}/metrics`);
  if (!response.ok) throw new Error(`/metrics answers ${response.status}`);
  return new Page(await response.text());
}

/** Runs promtool. Returns its output, and whether it accepted the text. */
export function promtool(
  args: readonly string[],
  input = '',
): { readonly ok: boolean; readonly text: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { ok: status === 0, text: `${stdout}${stderr}` };
}

const vectorSchema = z.object({
  status: z.literal('success'),
  data: z.object({
    resultType: z.literal('vector'),
    result: z.array(
      z.object({
        metric: z.record(z.string(), z.string()),
        value: z.tuple([z.number(), z.coerce.number()]),
      }),
    ),
  }),
});

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ScrapeOptions {
  /** `HOST:PORT` of each target. */
  readonly targets: readonly string[];
  readonly scrapeIntervalMs: number;
  /** Alerting rules, in the format of a Prometheus rule file. */
  readonly rules: string;
}

/** Debian's Prometheus. It keeps its data in a directory that only this instance uses. */
export class Prometheus implements AsyncDisposable {
  readonly #url: string;
  readonly #server: ChildProcess;
  readonly #directory: string;

  private constructor(url: string, server: ChildProcess, directory: string) {
    this.#url = url;
    this.#server = server;
    this.#directory = directory;
  }

  /** Starts Prometheus. Resolves once it is ready. */
  static async start({ targets, scrapeIntervalMs, rules }: ScrapeOptions): Promise<Prometheus> {
    const directory = await mkdtemp(join(tmpdir(), 'petrel-prometheus-'));
    const [port] = await freePorts(1);
    const every = `${scrapeIntervalMs}ms`;
    const config = {
      global: { scrape_interval: every, scrape_timeout: every, evaluation_interval: every },
      rule_files: [join(directory, 'rules.yml')],
      scrape_configs: [{ job_name: 'petrel', static_configs: [{ targets }] }],
    };
    await writeFile(join(directory, 'rules.yml'), rules);
    await writeFile(join(directory, 'prometheus.yml'), stringify(config));
    const flags = [
      `--config.file=${join(directory, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ];
    const server = spawnBound('prometheus', flags, { stdio: ['ignore', 'ignore', 'inherit'] });
    const prometheus = new Prometheus(`http://127.0.0.1:${port}`, server, directory);
    await until(async () => (await fetch(`${prometheus.#url}/-/ready`)).ok, {
      timeoutMs: 30_000,
      describe: 'Prometheus to be ready',
    });
    return prometheus;
  }

  async query(query: string): Promise<Series[]> {
    const body = new URLSearchParams({ query });
    const response = await fetch(`${this.#url}/api/v1/query`, { method: 'POST', body });
    const { data } = vectorSchema.parse(await response.json());
    return data.result.map(({ metric, value }) => ({ labels: metric, value: value[1] }));
  }

  /** Returns the first value of a query, or undefined if the result is empty. */
  async value(query: string): Promise<number | undefined> {
    return (await this.query(query))[0]?.value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.kill('SIGKILL');
    await exitOf(this.#server);
    await rm(this.#directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
