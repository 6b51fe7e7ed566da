// Installs all dependencies of this project, and then runs one of its commands if there is one. With it, the
// scripts of package.json work on a fresh clone with only Node.js. Signals are passed on, so ending this
// process also ends the command.
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { alone, installMissing } from './prepare.mjs';
import { project } from './sources.cjs';

await alone(() => installMissing({ withTests: true }));
const [command, ...args] = process.argv.slice(2);
if (command !== undefined) start();

function start() {
  const path = [join(project, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
  const child = spawn(command, args, { cwd: project, stdio: 'inherit', env: { ...process.env, PATH: path } });
  // Ignore SIGINT. A terminal sends it to the child too, and this process must not exit before the child.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`cannot run ${command}: ${error.message}`);
    process.exit(1);
  });
  child.on('close', (status, signal) => process.exit(signal === null ? (status ?? 1) : 128));
}
