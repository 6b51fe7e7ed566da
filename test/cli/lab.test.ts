/** `petrel lab` on the command line. */
import { describe, expect, it } from 'vitest';
import { reproductionSchema } from '../../packages/lab/src/command/reproduction-text.js';
import { labSchema } from '../../packages/lab/src/command/results-text.js';
import { runCommand } from '../support/command.js';

function lab(...args: string[]) {
  return runCommand(['lab', ...args]);
}

describe('petrel lab', () => {
  it('prints the same bytes for the same seed, whatever the number of workers', async () => {
    // The runs take so long that every thread gets work, even on a fast machine.
    const args = ['lcr', '--nodes', '3,1000', '--scenario', 'start', '--runs', '60'];
    const [one, two] = await Promise.all([
      lab(...args, '--workers', '1', '-f', 'json'),
      lab(...args, '--workers', '2', '-f', 'json'),
    ]);
    expect(one.code).toBe(0);
    expect(two.stdout).toBe(one.stdout);
    expect(labSchema.parse(JSON.parse(one.stdout)).results).toHaveLength(2);
    expect(one.stderr).toBe('');
  });

  it('prints a table, measured against theory, and a picture', async () => {
    const [table, svg] = await Promise.all([
      lab('lcr', '--nodes', '8,16', '--order', 'falling', '--runs', '2', '-f', 'table'),
      lab('lcr', '--nodes', '8,16', '--order', 'falling', '--runs', '2', '-f', 'svg'),
    ]);
    expect(table.stdout).toMatch(/^lcr +16 +0 +start +election messages +136\.00 +136 +yes +n\(n\+1\)\/2$/m);
    expect(svg.stdout).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
  });

  it('says how far off the literature is', async () => {
    const { code, stdout } = await lab('--reproduce', 'pole', '-f', 'json');
    expect(code).toBe(0);
    expect(reproductionSchema.parse(JSON.parse(stdout)).points.length).toBeGreaterThan(10);
  });

  it.each([
    [['nobody'], 'no such election: nobody; expected one of anonymous, sync-ring'],
    [['lcr', '--nodes', '0'], 'a whole number from 1 to 10000'],
    [['lcr', '--delay', 'soon'], 'is not a duration'],
    [['lcr', '--delay', '0ms-0ms'], '0ms is too short: expected at least 1ms'],
    [['lcr', '-f', 'xml'], 'one of pretty, wide, json, yaml, tsv, table, svg'],
    [
      ['lcr', '--plot', '/nowhere/lab.svg', '--runs', '100000', '--nodes', '10000'],
      'cannot write /nowhere/lab.svg',
    ],
    [['lcr', '--loss', '1'], 'expected a number from 0 to 0.95'],
    [['lcr', '--reproduce', 'rings', '--nodes', '4'], 'remove lcr, --nodes'],
  ])('refuses %s', async (args, reason) => {
    const { code, stderr } = await lab(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(reason);
  });
});
