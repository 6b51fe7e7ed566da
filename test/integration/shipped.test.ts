/** The package as it is built and shipped. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as library from '../../src/index.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { oncePerRun } from '../support/once-per-run.js';

const run = promisify(execFile);
const project = fileURLToPath(new URL('../..', import.meta.url));
let built = '';

beforeAll(async () => {
  built = dirname(dirname(dirname(await oncePerRun('build'))));
});

async function printed(...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, args, { cwd: project });
  return stdout.trim();
}

/** Returns the paths of the modules that Node.js has loaded after `statement`. */
async function loadedBy(statement: string): Promise<string[]> {
  const script = `${statement}; console.log(JSON.stringify(Object.keys(require.cache)))`;
  return z.array(z.string()).parse(JSON.parse(await printed('-e', script)));
}

describe('what is built', () => {
  it('holds the text of no module twice, and of no dependency at all', async () => {
    const files = (await readdir(built, { recursive: true })).filter((name) => name.endsWith('.js'));
    const texts = await Promise.all(
      files.filter((name) => !name.includes('page/')).map((name) => readFile(join(built, name), 'utf8')),
    );
    const classes = texts.flatMap((text) =>
      [...text.matchAll(/^var (\w+) = class/gm)].map(([, name]) => name),
    );
    expect(classes).toContain('CommandWorkload');
    expect(classes.filter((name) => name === 'CommandWorkload')).toHaveLength(1);
    expect(classes).not.toContain('ZodError');
    expect(classes).not.toContain('Command');
  });

  it('has a guardian that loads nothing but Node.js and files of its own', async () => {
    const loaded = await loadedBy(`require(${JSON.stringify(join(built, 'src/guardian/program.js'))})`);
    expect(loaded.length).toBeGreaterThan(1);
    expect(loaded.filter((path) => !path.startsWith(built))).toEqual([]);
  });

  it('loads no YAML parser and no HTTP server for who joins as a library', async () => {
    const loaded = await loadedBy(`require(${JSON.stringify(join(built, 'src/index.js'))})`);
    expect(loaded.filter((path) => /node_modules\/(yaml|prom-client|pino-pretty)\//.test(path))).toEqual([]);
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

  it('has the same names for who imports it as its types have', async () => {
    const names = await printed(
      '--input-type=module',
      '-e',
      "console.log(Object.keys(await import('petrel')).join())",
    );
    expect(names.split(',').filter((name) => !['default', 'module.exports'].includes(name))).toEqual(
      Object.keys(library).toSorted(),
    );
  });

  it('is imported by its name, and leads', async () => {
    const program = lead("await import('petrel')", await options(uniqueRoot()));
    expect(await printed('--input-type=module', '-e', program)).toBe('leads in term 1');
  });

  it('is required by its name, and leads', async () => {
    const program = `void (async () => {${lead("require('petrel')", await options(uniqueRoot()))}})()`;
    expect(await printed('-e', program)).toBe('leads in term 1');
  });
});
