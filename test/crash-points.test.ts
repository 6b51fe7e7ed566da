/** Checks the crash points, the pages in docs/ about them, and the names by which operators select them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { everyPoint, parsePoint, pointName, pointsHelp, steps, victims } from '../src/dev/crash-points.js';
import { crashTable, namedTests } from './support/crash-table.js';

describe('docs/reports/tables/crash-points.md', () => {
  it('has a row for every crash point, and no other', () => {
    expect(crashTable().map(({ name }) => name)).toEqual(everyPoint().map(pointName));
    expect(everyPoint().length).toBeGreaterThan(250);
  });

  it('has every step, and everything that may die, killed in every run of CI', () => {
    const rehearsed = crashTable().filter(({ inEveryRun }) => inEveryRun);
    const stepsRehearsed = new Set<string>(rehearsed.map(({ point }) => point.step));
    const victimsRehearsed = new Set<string>(rehearsed.map(({ point }) => point.victim));
    expect(Object.keys(steps).filter((step) => !stepsRehearsed.has(step))).toEqual([]);
    expect(Object.keys(victims).filter((victim) => !victimsRehearsed.has(victim))).toEqual([]);
  });

  it('has a session expire only where guardian and agent of one node die at once', () => {
    const slow = crashTable().filter(({ waitsForExpiry }) => waitsForExpiry);
    expect(slow.filter(({ point }) => !point.victim.endsWith('-both'))).toEqual([]);
    expect(slow.length).toBeGreaterThan(5);
  });

  it('has somebody release after the death of one of the two', () => {
    const released = crashTable().filter(({ releases }) => releases);
    const victimsReleased = new Set(released.map(({ point }) => point.victim));
    expect([...victimsReleased].toSorted()).toEqual([
      'candidate',
      'candidate-guardian',
      'leader',
      'leader-guardian',
    ]);
  });

  it('names tests that exist', () => {
    const named = namedTests();
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ file, title }) => !hasTest(file, title))).toEqual([]);
    expect(hasTest('test/crash-points.test.ts', 'names tests that')).toBe(false);
  });
});

/** Whether the file contains a test with this title, or with a title that begins with this number. */
function hasTest(file: string, title: string): boolean {
  const source = readFileSync(fileURLToPath(new URL(`../${file}`, import.meta.url)), 'utf8');
  const titles = [...source.matchAll(/\bit\(\s*(['"`])(.*?)\1,/gs)].map(([, , found = '']) => found);
  const isNumber = /^P\d+$/.test(title);
  return titles.some((found) => found === title || (isNumber && found.startsWith(`${title} `)));
}

describe('a crash point as people write it', () => {
  it.each([
    ['takeover-started', 'switchover/takeover-started:candidate'],
    ['takeover-started:guardian', 'switchover/takeover-started:candidate-guardian'],
    ['release-ended:both', 'switchover/release-ended:leader-both'],
    ['decided:guardian', 'switchover/decided:elector-guardian'],
    ['claim-created:zookeeper', 'switchover/claim-created:zookeeper'],
    ['decided', 'switchover/decided:elector'],
    ['failover/decided:candidate', 'failover/decided:candidate'],
    ['undo-started', 'failed/undo-started:candidate'],
    ['leaving-announced', 'drain/leaving-announced:leader'],
  ])('%s is %s', (text, name) => {
    expect(pointName(parsePoint(text))).toBe(name);
  });

  it.each([
    ['takeover-startd', '"takeover-startd" is not a step: did you mean takeover-started?'],
    ['nonsense', '"nonsense" is not a step: expected one of leaving-announced,'],
    ['', '"" is not a step: expected one of'],
    ['decided:canddate', 'did you mean candidate?'],
    ['decided:supervisor', '"supervisor" is not a process in transition switchover'],
    ['failover/decided:leader', '"leader" is not a process in transition failover'],
    ['failover/release-ended', '"failover" is not a transition with step release-ended'],
    ['a/b/c:d', 'is not a step'],
  ])('%j is none, and the error says why', (text, message) => {
    expect(() => parsePoint(text)).toThrow(message);
  });

  it('is read back from its name', () => {
    for (const point of everyPoint()) expect(parsePoint(pointName(point))).toEqual(point);
  });

  it('is explained in the help, step by step', () => {
    for (const name of [...Object.keys(steps), ...Object.keys(victims)])
      expect(pointsHelp()).toContain(`  ${name} `);
  });
});
