/** What docs/crash-points.md says of each crash point. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type CrashPoint, everyPoint, pointName } from '../../src/dev/crash-points.js';

const document = readFileSync(fileURLToPath(new URL('../../docs/crash-points.md', import.meta.url)), 'utf8');

export interface Row {
  readonly name: string;
  readonly point: CrashPoint;
  readonly leadsThen: 'the heir' | 'another' | 'either';
  /** Session timeouts that nobody leads for; 0: less than one. */
  readonly sessionTimeouts: number;
  readonly twoMayBeActive: boolean;
  /** The killed agent's keeper ends what runs, and releases, without waiting for the lease's end. */
  readonly keeperReleases: boolean;
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
      const leadsThen = (['the heir', 'another', 'either'] as const).find((one) => one === who);
      const sessionTimeouts = ['at once', 'T', '2 T'].indexOf(without);
      if (
        point === undefined ||
        leadsThen === undefined ||
        sessionTimeouts < 0 ||
        !/^(CI|all)$/.test(shown)
      ) {
        throw new Error(`docs/crash-points.md: the row of ${name} is not understood`);
      }
      const twoMayBeActive = what.includes('**two may be active**');
      const keeperReleases = what.includes('its keeper ');
      const inEveryRun = shown === 'CI';
      return { name, point, leadsThen, sessionTimeouts, twoMayBeActive, keeperReleases, inEveryRun };
    });
}

/** Tests that are named elsewhere in it: `file`: title. */
export function namedTests(): { readonly file: string; readonly title: string }[] {
  return cells().flatMap((row) => {
    const [, file, title] = /^`(test\/[^`]+)`: (.+)$/.exec(row.at(-1) ?? '') ?? [];
    return file === undefined || title === undefined ? [] : [{ file, title }];
  });
}
