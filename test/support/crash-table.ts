/** Parses what docs/reports/tables/crash-points.md says about each crash point. */
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
  readonly leadsThen: 'the candidate' | 'another';
  /** Whether a node leads only once the dead node's session has expired. */
  readonly waitsForExpiry: boolean;
  /** Whether the surviving process of the node, its guardian or its agent, completes a release. */
  readonly releases: boolean;
  readonly inEveryRun: boolean;
}

/** Cells of the rows of all tables, without their headers. */
function cells(): string[][] {
  const lines = document.split('\n').filter((line) => line.startsWith('|') && !/^\| -+/.test(line));
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Throws for a row that contains nothing testable. */
export function crashTable(): Row[] {
  return cells()
    .filter(([first = '']) => first.includes('/'))
    .map(([first = '', what = '', who = '', without = '', shown = '']) => {
      const name = first.replaceAll('`', '');
      const point = everyPoint().find((one) => pointName(one) === name);
      const leadsThen = (['the candidate', 'another'] as const).find((one) => one === who);
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

/** Tests that the document names elsewhere, as `file`: title. */
export function namedTests(): { readonly file: string; readonly title: string }[] {
  return cells().flatMap((row) => {
    const [, file, title] = /^`(test\/[^`]+)`: (.+)$/.exec(row.at(-1) ?? '') ?? [];
    return file === undefined || title === undefined ? [] : [{ file, title }];
  });
}
