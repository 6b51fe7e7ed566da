/** The package's types, as a project sees them that checks the types of its libraries, too. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { oncePerRun } from '../support/once-per-run.js';

const project = fileURLToPath(new URL('../..', import.meta.url));

beforeAll(async () => {
  await oncePerRun('build');
  await oncePerRun('types');
});

it('are complete', async () => {
  const args = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,esnext.disposable'];
  const file = 'test/library/fixtures/consumer.ts';
  const { stdout } = await promisify(execFile)(
    `${project}node_modules/.bin/tsc`,
    [...args, '--module', 'nodenext', '--types', 'node', '--skipLibCheck', 'false', file],
    { cwd: project },
  ).catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? String(error) }));
  expect(stdout).toBe('');
});
