/** A hook that cannot be started because the process cannot open any more files. Uses real processes. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { builtFixture } from '../support/built.js';

it('where no more files can be opened, a hook has failed, and the agent goes on', async () => {
  const fixture = await builtFixture('hooks/fixtures/starved');
  const command = `ulimit -n 64; exec ${process.execPath} ${fixture}`;
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command]);
  expect(JSON.parse(stdout)).toMatchObject({
    result: 'failed',
    error: 'onRelease: program "/bin/true" could not be started: EMFILE',
    provenDead: true,
  });
});
