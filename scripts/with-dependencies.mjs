// Runs a command of this project after installing what it needs, so that `npm start` and `npm test` work on a
// fresh clone with nothing but Node.js.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));
const installed = join(project, 'node_modules', '.package-lock.json');

function run(command, args) {
  const path = [join(project, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
  const { status, signal, error } = spawnSync(command, args, {
    cwd: project,
    stdio: 'inherit',
    env: { ...process.env, PATH: path },
  });
  if (error) {
    console.error(`cannot run ${command}: ${error.message}`);
    return 1;
  }
  return signal ? 128 : (status ?? 1);
}

if (!existsSync(installed)) {
  const status = run('npm', ['ci', '--no-audit', '--no-fund']);
  if (status !== 0) process.exit(status);
}
const [command, ...args] = process.argv.slice(2);
process.exit(run(command, args));
