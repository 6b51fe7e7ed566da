/**
 * The pages about the laboratory agree with the code: commands, elections, points, and what is expected of
 * them. `npm run bench:lab` measures the points again, which takes long.
 */
import { describe, expect, it } from 'vitest';
import { expectedCells } from '../../bench/lab/report.js';
import { algorithms } from '../../packages/lab/src/algorithms/index.js';
import { reproductions } from '../../packages/lab/src/reproduce/index.js';
import { reproductionNames } from '../../packages/lab/src/reproduce/names.js';
import { readPage, tableRows } from './pages.js';
import { refusal } from './refusal.js';

const points = readPage('docs/reports/tables/lab.md');
const report = readPage('docs/reports/lab.md');

/** Returns the part of a page from a marker to its end. */
function measuredIn(page: string, name: string): string {
  return page.split(`<!-- ${name}: begin -->`)[1]?.split(`<!-- ${name}: end -->`)[0] ?? '';
}

function firstCells(text: string): string[] {
  const [, ...rows] = tableRows(text);
  return rows.map(([first = '']) => first);
}

describe('docs/reports/tables/lab.md', () => {
  const commands = [...points.matchAll(/`petrel (lab [^`]*)`/g)].map(([, command = '']) => command);

  it.each([...new Set(commands)])('petrel %s exists', async (command) => {
    const args = command.split(' ');
    expect(await refusal(args)).toEqual([]);
    const end = args.findIndex((arg) => arg.startsWith('--'));
    const elections = args.slice(1, end === -1 ? undefined : end);
    expect(elections.filter((name) => !algorithms.has(name))).toEqual([]);
  });

  it('leads to every reproduction', () => {
    const led = commands.flatMap((command) => /--reproduce (\S+)/.exec(command)?.[1] ?? []);
    expect(reproductionNames.filter((name) => !led.includes(name))).toEqual([]);
  });

  it.each(reproductionNames)('has every point of %s, and what is expected of it', (name) => {
    const section = measuredIn(points, 'measured')
      .split(/^## /m)
      .find((part) => part.startsWith(`${name}\n`));
    const figures = new Map((section ?? '').split(/^### /m).map((part) => [part.split('\n')[0], part]));
    const expected = reproductions[name].expected();
    for (const title of new Set(expected.map(({ figure }) => figure))) {
      const own = expected.filter(({ figure }) => figure === title);
      const written = tableRows(figures.get(title) ?? '').map((cells) => cells.slice(0, 3).join(' | '));
      // An election that never agrees has no time to measure.
      const cells = own.filter(({ from }) => from !== 'none').map((one) => expectedCells(one).join(' | '));
      const known = new Set(own.map((one) => expectedCells(one).join(' | ')));
      expect([title, cells.filter((row) => !written.includes(row))]).toEqual([title, []]);
      expect([title, written.slice(1).filter((row) => !known.has(row))]).toEqual([title, []]);
    }
  });
});

describe('docs/reports/lab.md', () => {
  it('has every election, with fifty nodes too', () => {
    const elections = report.split('## Elections')[1]?.split('\n## ')[0] ?? '';
    expect([...algorithms.keys()].filter((name) => !elections.includes(`\`${name}\``))).toEqual([]);
    const measured = firstCells(measuredIn(report, 'fifty nodes'));
    expect(measured).toEqual([...algorithms.keys()].map((name) => `\`${name}\``));
  });

  it('has every reproduction, with the number of its points', () => {
    const rows = tableRows(measuredIn(report, 'reproductions')).slice(1);
    expect(rows.map(([name]) => name)).toEqual(reproductionNames.map((name) => `\`${name}\``));
    for (const [name = '', count] of rows) {
      const section = measuredIn(points, 'measured')
        .split(/^## /m)
        .find((part) => part.startsWith(`${name.replaceAll('`', '')}\n`));
      const written = tableRows(section ?? '').filter(([first]) => first !== 'Point');
      expect([name, String(written.length)]).toEqual([name, count]);
    }
  });
});
