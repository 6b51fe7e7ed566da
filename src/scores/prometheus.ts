/**
 * Finds the series of one metric on a page in Prometheus' text format, version 0.0.4 (prometheus.io,
 * *Exposition formats*).
 *
 * Only the lines of that metric are parsed. Other lines are skipped, even if they are malformed, so parsing a
 * page costs little more than a text search. Not supported: the quoted names of a later version of the
 * format, and more lines for one metric than the agent can parse without delaying lease renewals.
 */
import type { Parsed } from '../model/names.js';
import { quoted } from '../model/outside.js';

export interface Series {
  readonly labels: ReadonlyMap<string, string>;
  /** The value as written on the page. It may be NaN or an infinity. */
  readonly value: string;
}

/** Maximum total length of all lines of one metric. */
const longestLines = 2 ** 20;

/** Returns the series that have at least these `labels`, in the order of the page. */
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
      return {
        value: null,
        problem: `the lines of ${metric} have more than ${longestLines} characters in total`,
      };
    }
    const series = readLine(line.slice(metric.length).trimStart());
    if (series === null)
      return { value: null, problem: `${quoted(line)} is not a valid line in the Prometheus format` };
    if (wanted.every(([name, value]) => series.labels.get(name) === value)) found.push(series);
  }
  return { value: found, problem: null };
}

/** Yields the trimmed lines that begin with the metric's name. */
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
 * Matches the value, an optional timestamp, and text that OpenMetrics may append. Each optional part starts
 * with a space or a tab, so the pattern does not backtrack.
 */
const valuePattern = /[ \t]*(\S+)(?:[ \t]+-?[\d.]+)?(?:[ \t]+#.*)?$/y;

/** Parses the part of a line after the metric's name. Returns null if that part is malformed. */
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
