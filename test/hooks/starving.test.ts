/** A hook that cannot be started for want of files: with real processes. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const fixture = fileURLToPath(new URL('fixtures/starved.ts', import.meta.url));
const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

it('where no more files can be opened, a hook has failed, and whoever was to run it goes on', async () => {
  const command = `ulimit -n 64; exec ${process.execPath} --import ${loader} ${fixture}`;
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command]);
  expect(JSON.parse(stdout)).toMatchObject({
    result: 'failed',
    error: 'onRelease: program "/bin/true" could not be started: EMFILE',
    provenDead: true,
  });
});
