/** What is shipped, as it is built. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import * as library from '../../src/index.js';
import { version } from '../../src/version.js';
import { sharedZooKeeper, uniqueRoot } from '../support/ensemble.js';
import { oncePerRun } from '../support/once-per-run.js';

const run = promisify(execFile);
const project = fileURLToPath(new URL('../..', import.meta.url));
let built = '';

beforeAll(async () => {
  built = dirname(dirname(await oncePerRun('build')));
});

const digestBytes = 32;
const programs = ['cli/run.cjs', 'guardian/program.cjs', 'index.cjs'];

/** Turns one byte of a file into another. */
async function spoil(file: string, at: number): Promise<void> {
  const bytes = await readFile(file);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  await writeFile(file, bytes);
}

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

describe('what V8 has made of a program', () => {
  it.each(programs)(
    'of %s is there for another process, of this version and with no other options, to take',
    async (name) => {
      const file = join(built, name);
      const take = `
      const [kept, text] = [${JSON.stringify(`${file}.code`)}, ${JSON.stringify(file)}].map((path) => fs.readFileSync(path));
      const options = { cachedData: kept.subarray(${digestBytes}) };
      console.log(new vm.Script(module.constructor.wrap(text.toString()), options).cachedDataRejected);
    `;
      expect(await printed('-e', take)).toBe('false');
    },
  );

  it.each(programs)('holds more of %s than what its start calls', async (name) => {
    const file = join(built, name);
    const load = `
      const file = ${JSON.stringify(file)};
      const wrapped = module.constructor.wrap(fs.readFileSync(file).toString());
      const script = new vm.Script(wrapped, { filename: file });
      const program = { exports: {} };
      const run = script.runInThisContext();
      run(program.exports, module.constructor.createRequire(file), program, file, path.dirname(file));
      console.log(script.createCachedData().length);
    `;
    const kept = await stat(`${file}.code`);
    expect(kept.size).toBeGreaterThan(1.2 * Number(await printed('-e', load)));
  });

  it.each([
    ['is missing', (file: string) => rm(file)],
    ['is nothing', (file: string) => writeFile(file, '')],
    ['is of another text', (file: string) => spoil(file, 0)],
    ['is of another version', (file: string) => spoil(file, digestBytes + 4)],
  ])('is done without where it %s', async (_what, spoilt) => {
    const directory = await mkdtemp(join(tmpdir(), 'petrel-shipped-'));
    try {
      for (const name of [
        'cli/main.cjs',
        'cli/guarded.cjs',
        'cli/run.cjs',
        'cli/run.cjs.code',
        'program-file.cjs',
      ])
        await cp(join(built, name), join(directory, 'dist/src', name));
      await cp(join(project, 'package.json'), join(directory, 'package.json'));
      await spoilt(join(directory, 'dist/src/cli/run.cjs.code'));
      const main = join(directory, 'dist/src/cli/main.cjs');
      expect(await printed(main, '--version')).toBe(version);
    } finally {
      await rm(directory, { recursive: true });
    }
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
    expect(names.split(',').filter((name) => name !== 'default')).toEqual(Object.keys(library).toSorted());
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
