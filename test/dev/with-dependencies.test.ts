/** `npm start` leaves no process behind when its parent process ends it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { until } from '../support/until.js';

it('a signal to npm start ends what it started', async () => {
  const script = 'console.log(process.pid); setInterval(() => {}, 1000)';
  const starter = spawn(process.execPath, [
    'scripts/with-dependencies.mjs',
    process.execPath,
    ...['-e', script],
  ]);
  const exit = once(starter, 'exit');
  let said = '';
  starter.stdout.on('data', (chunk) => {
    said += chunk;
  });
  await until(() => said.includes('\n'), { describe: 'the command to start' });
  const pid = Number(said);
  starter.kill('SIGTERM');
  try {
    expect(await exit).toEqual([128, null]);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  } finally {
    starter.kill('SIGKILL');
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }
});
