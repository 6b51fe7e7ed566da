/** Metrics as they are scraped: a page's samples, what Debian's promtool says of it, and a Prometheus that scrapes. */
import { spawnSync } from 'node:child_process';

/** Where there is none, tests that want it say so. */
export const hasPrometheus = spawnSync('promtool', ['--version']).status === 0;
export const notHere = hasPrometheus
  ? ''
  : ' (not here: no prometheus; on Debian: apt-get install prometheus)';

/** Samples of one page: their names with labels, as written, and their values. */
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

  /** The one sample of this name that has these labels, written as `state="connected"`; undefined when there is none. */
  value(name: string, ...labels: string[]): number | undefined {
    const found = [...this.samples].filter(
      ([series]) => series.split('{')[0] === name && labels.every((label) => series.includes(label)),
    );
    if (found.length > 1)
      throw new Error(`${name} {${labels}} is ambiguous: ${found.map(([series]) => series)}`);
    return found[0]?.[1];
  }

  /** Without those of parts of histograms. */
  get names(): string[] {
    return [...this.text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
  }
}

export async function scrape(url: string): Promise<Page> {
  const response = await fetch(`${url}/metrics`);
  if (!response.ok) throw new Error(`/metrics answers ${response.status}`);
  return new Page(await response.text());
}

/** What promtool writes, and whether it was content. */
export function promtool(
  args: readonly string[],
  input = '',
): { readonly ok: boolean; readonly text: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { ok: status === 0, text: `${stdout}${stderr}` };
}
