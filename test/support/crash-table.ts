/** What docs/reports/tables/crash-points.md says of each crash point. */
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
  /** Somebody leads only when the session of the dead has expired. */
  readonly waitsForExpiry: boolean;
  /** Who of the node lives on, its guardian or its agent, runs a release to its end. */
  readonly releases: boolean;
  readonly inEveryRun: boolean;
}

/** Cells of the rows of all tables, without their heads. */
function cells(): string[][] {
  const lines = document.split('\n').filter((line) => line.startsWith('|') && !/^\| -+/.test(line));
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Throws for a row that says nothing that can be tested. */
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

/** Tests that are named elsewhere in it: `file`: title. */
export function namedTests(): { readonly file: string; readonly title: string }[] {
  return cells().flatMap((row) => {
    const [, file, title] = /^`(test\/[^`]+)`: (.+)$/.exec(row.at(-1) ?? '') ?? [];
    return file === undefined || title === undefined ? [] : [{ file, title }];
  });
}
