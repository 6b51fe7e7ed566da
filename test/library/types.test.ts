/** The types of the package, as projects that use it see them. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { oncePerRun } from '../support/once-per-run.js';

const project = fileURLToPath(new URL('../..', import.meta.url));
const consumer = join(project, 'test/library/fixtures/consumer.ts');

beforeAll(async () => {
  await oncePerRun('build');
  await oncePerRun('types');
});

const strict = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,esnext.disposable'];

/** Runs the compiler on a file in the folder `cwd`, and returns its output. */
async function compile(cwd: string, file: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(
    `${project}node_modules/.bin/tsc`,
    [...strict, '--types', 'node', ...args, file],
    { cwd },
  ).catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? String(error) }));
  return stdout;
}

it.each([
  // Only this case checks whether the types are complete, because that check is the same in all cases.
  [
    'an ES module, which checks the types of its libraries, too',
    'module',
    ['--module', 'nodenext', '--skipLibCheck', 'false'],
  ],
  ['a CommonJS module', 'commonjs', ['--module', 'node16', '--skipLibCheck']],
  [
    'a CommonJS module, by the rules of Node.js 10',
    'commonjs',
    ['--module', 'commonjs', '--moduleResolution', 'node10', '--skipLibCheck'],
  ],
  ['a bundler', 'module', ['--module', 'esnext', '--moduleResolution', 'bundler', '--skipLibCheck']],
])('are found by %s', async (_who, type, args) => {
  const directory = await mkdtemp(join(tmpdir(), 'petrel-types-'));
  try {
    await mkdir(join(directory, 'node_modules'));
    await symlink(project, join(directory, 'node_modules/petrel'));
    await symlink(join(project, 'node_modules/@types'), join(directory, 'node_modules/@types'));
    await writeFile(join(directory, 'package.json'), JSON.stringify({ type }));
    await copyFile(consumer, join(directory, 'consumer.ts'));
    expect(await compile(directory, 'consumer.ts', args)).toBe('');
  } finally {
    await rm(directory, { recursive: true });
  }
});
