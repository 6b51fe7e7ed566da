/** Installs what this clone needs, and compiles it. Ends the process if either fails, or on a signal. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { project } from './sources.cjs';

const installing = 'Installing dependencies, once';
const everyMs = 200;

/**
 * Does `work` while no other process does so in this clone. The lock is a socket without a file (Linux),
 * which the system closes when this process ends.
 */
export async function alone(work) {
  const name = `\0petrel-${createHash('sha256').update(project).digest('hex')}`;
  for (;;) {
    const lock = createServer().listen(name);
    try {
      await once(lock, 'listening');
      await work();
      lock.close();
      return;
    } catch (error) {
      if (error.code !== 'EADDRINUSE') throw error;
    }
    showStatus('Waiting for another process that is installing or compiling');
    await sleep(everyMs);
  }
}

/**
 * Installs the packages of package-lock.json unless all of them are installed. The packages that only tests
 * and checks need are installed if they are wanted, and kept if they are there.
 */
export async function installMissing({ withTests }) {
  const keepsTests = withTests || existsSync(join(project, 'node_modules/vitest'));
  const needed = packagesOf('package-lock.json').filter(([, { dev }]) => keepsTests || dev !== true);
  const installed = new Map(packagesOf('node_modules/.package-lock.json'));
  if (needed.every(([path, { version }]) => installed.has(path) && installed.get(path).version === version))
    return;
  const showCount = () => {
    const count = needed.filter(([path]) => existsSync(join(project, path, 'package.json'))).length;
    showStatus(`${installing}: ${count} of ${needed.length} packages`);
  };
  if (!process.stderr.isTTY) process.stderr.write(`${installing}\n`);
  const timer = setInterval(showCount, everyMs);
  await run('npm', [
    'ci',
    keepsTests ? '--include=dev' : '--omit=dev',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    // Options of the outer command, such as `npm pack --dry-run`, must not change the installation.
    ...['--no-dry-run', '--no-global'],
  ]);
  clearInterval(timer);
  showCount();
  if (process.stderr.isTTY) process.stderr.write('\n');
}

export async function compile() {
  showStatus('Compiling');
  await run(process.execPath, [join(project, 'scripts/build.mjs'), '--without-types']);
  showStatus('');
}

/** Returns the packages of a lock file that every machine needs, with their paths. */
function packagesOf(lockFile) {
  try {
    const { packages } = JSON.parse(readFileSync(join(project, lockFile), 'utf8'));
    return Object.entries(packages).filter(
      ([path, { link, optional, devOptional }]) =>
        path.startsWith('node_modules/') && !link && !optional && !devOptional,
    );
  } catch {
    return [];
  }
}

let shown = '';

/** Replaces the status on a terminal. Does nothing elsewhere. */
function showStatus(text) {
  if (process.stderr.isTTY && text !== shown) process.stderr.write(`\r\u001B[K${text}`);
  shown = text;
}

/**
 * Runs a program and keeps its output for the case that it fails. A signal ends the program first, and then
 * this process.
 */
async function run(command, args) {
  const output = [];
  let received = null;
  const child = spawn(command, args, { cwd: project, stdio: ['ignore', 'pipe', 'pipe'] });
  const endBoth = (signal) => {
    received = signal;
    child.kill(signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, endBoth);
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  const status = await new Promise((resolve) => {
    child.on('error', (error) => {
      output.push(Buffer.from(`cannot run ${command}: ${error.message}\n`));
      resolve(1);
    });
    child.on('close', resolve);
  });
  for (const signal of signals) process.off(signal, endBoth);
  if (status === 0 && received === null) return;
  if (process.stderr.isTTY) process.stderr.write('\n');
  if (received !== null) process.kill(process.pid, received);
  process.stderr.write(Buffer.concat(output));
  process.exit(1);
}
