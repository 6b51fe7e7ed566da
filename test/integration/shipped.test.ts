/** What is shipped, as it is built. */
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { oncePerRun } from '../support/once-per-run.js';

const run = promisify(execFile);
const project = fileURLToPath(new URL('../..', import.meta.url));
let built = '';

beforeAll(async () => {
  built = dirname(dirname(await oncePerRun('build')));
});

async function printed(...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, args, { cwd: project });
  return stdout.trim();
}

describe('a process starts with one file', () => {
  it.each([
    ['the command line', 'cli/run.cjs'],
    ['the guardian', 'guardian/program.cjs'],
    ['the library', 'index.cjs'],
  ])('%s', async (_what, name) => {
    const file = join(built, name);
    const load = `require(${JSON.stringify(file)}); console.log(JSON.stringify(Object.keys(require.cache)))`;
    expect(JSON.parse(await printed('-e', load))).toEqual([file]);
  });
});

describe('the package', () => {
  const options = async (root: string) =>
    JSON.stringify({ zookeeper: await sharedZooKeeper(), root, nodeId: 'a1', site: 'a' });
  const lead = (petrel: string, joined: string) => `
    const { Petrel } = ${petrel};
    const petrel = await Petrel.join(${joined});
    petrel.on('leader', ({ term }) => { console.log('leads in term', term); void petrel.close(); });
    petrel.lead((_leadership, signal) => new Promise((resolve) => signal.addEventListener('abort', resolve)));
  `;

  it('is imported by its name, and leads', async () => {
    const program = lead("await import('petrel')", await options(uniqueRoot()));
    expect(await printed('--input-type=module', '-e', program)).toBe('leads in term 1');
  });

  it('is required by its name, and leads', async () => {
    const program = `void (async () => {${lead("require('petrel')", await options(uniqueRoot()))}})()`;
    expect(await printed('-e', program)).toBe('leads in term 1');
  });
});
