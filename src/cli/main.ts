#!/usr/bin/env node
/**
 * Entry point of every Petrel process, as a guardian or as the command line. Neither loads the program of the
 * other.
 */
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';
import { keepInspectorClosed } from '../inspector.js';
import { hasGuardian, isGuarded } from './guarded.js';

const args = process.argv.slice(2);

keepInspectorClosed();
// Tools that send SIGUSR1 also send SIGUSR2, which ends a process by default.
process.on('SIGUSR2', () => {});
// A service manager may request a reload before the agent has read its settings.
if (hasGuardian()) process.on('SIGHUP', () => {});

async function beGuardian(): Promise<void> {
  const { runGuardian } = await import('../guardian/program.js');
  // A guardian is almost idle, so it does without the optimizing compilers, which saves megabytes of memory.
  // The flags are set only after everything is loaded: Node.js' own precompiled code is not valid with other
  // flags.
  for (const flag of ['--no-opt', '--no-sparkplug']) v8.setFlagsFromString(flag);
  process.exit(await runGuardian(fileURLToPath(import.meta.url), args));
}

async function beCommandLine(): Promise<void> {
  const { partFromGuardian, runCommandLine } = await import('./run.js');
  const { code, isMishap } = await runCommandLine(args);
  process.exitCode = code;
  // A guardian restarts an agent that ended with an unexpected error.
  if (!isMishap) await partFromGuardian(code);
}

void (isGuarded(args) && !hasGuardian() ? beGuardian() : beCommandLine());
