/**
 * The scripts of package.json work in a fresh clone, and leave no process behind when their parent process
 * ends them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { until } from '../support/until.js';

const manifest = z.object({ scripts: z.record(z.string(), z.string()) });

/** These run another script, or a program that installs what is missing itself. */
const others = ['npm run build', 'exec ./petrel dev'];

it.each(['package.json', 'packages/lab/package.json'])(
  'every script of %s installs what it needs',
  (file) => {
    const { scripts } = manifest.parse(JSON.parse(readFileSync(file, 'utf8')));
    const bare = Object.values(scripts).filter((script) => !script.includes('scripts/with-dependencies.mjs'));
    expect(bare.filter((script) => !others.includes(script))).toEqual([]);
  },
);

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
