/** Parses the tables in docs/reports/tables/crash-points.md, which describe each crash point. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type CrashPoint, everyPoint, pointName } from '../../src/dev/crash-points.js';

const document = readFileSync(
  fileURLToPath(new URL('../../docs/reports/tables/crash-points.md', import.meta.url)),
  'utf8',
);

export interface Row {
  readonly name: string;
  readonly point: CrashPoint;
  readonly leadsThen: 'the candidate' | 'the old leader' | 'another';
  /** Whether no node leads until the dead node's session has expired. */
  readonly waitsForExpiry: boolean;
  /**
   * Whether the process of the node that survives completes a release. The survivor is its guardian or its
   * agent.
   */
  readonly releases: boolean;
  readonly inEveryRun: boolean;
}

/** Returns the cells of all rows of all tables, without the header rows. */
function cells(): string[][] {
  const lines = document.split('\n').filter((line) => line.startsWith('|') && !/^\| -+/.test(line));
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Returns the rows about crash points. Throws if a row contains nothing testable. */
export function crashTable(): Row[] {
  return cells()
    .filter(([first = '']) => first.includes('/'))
    .map(([first = '', what = '', who = '', without = '', shown = '']) => {
      const name = first.replaceAll('`', '');
      const point = everyPoint().find((one) => pointName(one) === name);
      const leadsThen = (['the candidate', 'the old leader', 'another'] as const).find((one) => one === who);
      if (
        point === undefined ||
        leadsThen === undefined ||
        !/^(at once|T)$/.test(without) ||
        !/^(CI|all)$/.test(shown)
      ) {
        throw new Error(`docs/reports/tables/crash-points.md: the row of ${name} is not understood`);
      }
      const releases = /\bits (guardian|agent)\b[^:;]* (releases|brings the release to its end)\b/.test(what);
      const waitsForExpiry = without === 'T';
      return { name, point, leadsThen, waitsForExpiry, releases, inEveryRun: shown === 'CI' };
    });
}

/** Returns the tests that the document refers to elsewhere as `file`: title. */
export function namedTests(): { readonly file: string; readonly title: string }[] {
  return cells().flatMap((row) => {
    const [, file, title] = /^`(test\/[^`]+)`: (.+)$/.exec(row.at(-1) ?? '') ?? [];
    return file === undefined || title === undefined ? [] : [{ file, title }];
  });
}
