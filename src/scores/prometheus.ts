/**
 * The series of one metric on a page in Prometheus' text format, version 0.0.4 (prometheus.io, *Exposition
 * formats*).
 *
 * Reads the lines of that metric alone and passes over the rest, be it well-formed or not: a page costs
 * little more than a search through it. Not read: the quoted names of the format's later version, and more
 * lines of one metric than the agent, which also has a lease to renew, can read in passing.
 */
import type { Parsed } from '../model/names.js';
import { quoted } from '../model/outside.js';

export interface Series {
  readonly labels: ReadonlyMap<string, string>;
  /** As it stands there: it may be NaN or an infinity. */
  readonly value: string;
}

/** Of the lines of one metric, all together. */
const longestLines = 2 ** 20;

/** In the order of the page; those that have `labels`, and maybe others beside them. */
export function findSeries(
  page: string,
  metric: string,
  labels: Readonly<Record<string, string>>,
): Parsed<readonly Series[]> {
  const wanted = Object.entries(labels);
  const found: Series[] = [];
  let length = 0;
  for (const line of linesOf(page, metric)) {
    length += line.length;
    if (length > longestLines) {
      return { value: null, problem: `the lines of ${metric} have more than ${longestLines} characters` };
    }
    const series = readLine(line.slice(metric.length).trimStart());
    if (series === null)
      return { value: null, problem: `${quoted(line)} is not a line of Prometheus' format` };
    if (wanted.every(([name, value]) => series.labels.get(name) === value)) found.push(series);
  }
  return { value: found, problem: null };
}

/** The lines that begin with the metric's name, without blanks around them. */
function* linesOf(page: string, metric: string): Generator<string> {
  for (let at = page.indexOf(metric); at !== -1; at = page.indexOf(metric, at)) {
    const start = page.lastIndexOf('\n', at) + 1;
    const newline = page.indexOf('\n', at);
    const end = newline === -1 ? page.length : newline;
    const line = page.slice(start, end).trim();
    if (line.startsWith(metric) && /^[{ \t]/.test(line.slice(metric.length))) yield line;
    at = end;
  }
}

const labelPattern =
  /[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"([^"\\]*(?:\\.[^"\\]*)*)"[ \t]*(?:,|(?=\}))/y;
const closePattern = /[ \t]*\}/y;
/**
 * The value, a timestamp, and what OpenMetrics may put behind them. A blank comes before each: nothing is
 * tried twice.
 */
const valuePattern = /[ \t]*(\S+)(?:[ \t]+-?[\d.]+)?(?:[ \t]+#.*)?$/y;

/** Of a line, what follows the name. Null: it is malformed. */
function readLine(rest: string): Series | null {
  const labels = new Map<string, string>();
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const match = pattern.exec(rest);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  if (rest.startsWith('{')) {
    at = 1;
    for (let label = take(labelPattern); label !== null; label = take(labelPattern)) {
      labels.set(label[1] ?? '', unescaped(label[2] ?? ''));
    }
    if (take(closePattern) === null) return null;
  }
  const value = take(valuePattern)?.[1];
  return value === undefined ? null : { labels, value };
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter));
}
