import { describe, expect, it } from 'vitest';
import * as guarded from '../../src/cli/guarded.js';
import { createProgram } from '../../src/cli/program.js';

describe('a command line', () => {
  it('is known by the options that have a value, which are those of the program', async () => {
    const options = (await createProgram()).options.filter(({ required }) => required);
    const names = options.flatMap(({ short, long }) => [short, long]).filter((name) => name != null);
    expect([...guarded.valueOptions].sort()).toEqual(names.sort());
  });

  it.each([
    ['agent'],
    ['agent --node-id a1'],
    ['-z zk:2181 agent'],
    ['--zookeeper=zk:2181 -r /x agent --site agent'],
    ['run -- date'],
    ['run -- date --help'],
    ['-f json run --restart no -- agent'],
  ])('%s starts a guardian', (line) => {
    expect(guarded.isGuarded(line.split(' '))).toBe(true);
  });

  it.each([
    ['list'],
    ['-r agent list'],
    ['node drain agent'],
    ['agent --help'],
    ['agent --dry-run'],
    ['run -h'],
    ['--version agent'],
    ['help agent'],
    ['-- agent'],
    [''],
  ])('%s does not', (line) => {
    expect(guarded.isGuarded(line.split(' '))).toBe(false);
  });
});
