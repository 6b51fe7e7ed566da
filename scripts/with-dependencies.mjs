// Installs the dependencies of this project, and then runs one of its commands. With it, `npm start` and `npm
// test` work on a fresh clone with only Node.js. Signals are passed on, so ending `npm start` also ends the
// command.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('..', import.meta.url));
const installed = join(project, 'node_modules', '.package-lock.json');
const path = [join(project, 'node_modules', '.bin'), process.env.PATH].join(delimiter);

let child = null;
// Ignore SIGINT. A terminal sends it to the child too, and this process must not exit before the child.
process.on('SIGINT', () => {});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child?.kill(signal));

function run(command, args) {
  return new Promise((resolve) => {
    child = spawn(command, args, {
      cwd: project,
      stdio: 'inherit',
      env: { ...process.env, PATH: path },
    });
    child.on('error', (error) => {
      console.error(`cannot run ${command}: ${error.message}`);
      resolve(1);
    });
    child.on('close', (status, signal) => resolve(signal === null ? (status ?? 1) : 128));
  });
}

if (!existsSync(installed)) {
  console.error('Installing dependencies, once; this takes about a minute.');
  const status = await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  if (status !== 0) process.exit(status);
}
const [command, ...args] = process.argv.slice(2);
process.exit(await run(command, args));
