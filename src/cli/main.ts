#!/usr/bin/env node
/**
 * Entry point of every Petrel process. A process either is a guardian or runs a command line, and loads only
 * the code that it needs for this.
 */
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';
import { keepInspectorClosed } from '../inspector.js';
import { hasGuardian, isGuarded } from './guarded.js';

const args = process.argv.slice(2);

keepInspectorClosed();
// Ignore SIGUSR2, which ends a process by default. Tools that send SIGUSR1 also send SIGUSR2.
process.on('SIGUSR2', () => {});
// Ignore SIGHUP for now: a service manager may request a reload before the agent has read its settings.
if (hasGuardian()) process.on('SIGHUP', () => {});

async function beGuardian(): Promise<void> {
  const { runGuardian } = await import('../guardian/program.js');
  // A guardian is almost idle. It uses several megabytes less memory without the optimizing compilers. Set
  // the flags only after everything is loaded, because the precompiled code of Node.js is not valid with
  // other flags.
  for (const flag of ['--no-opt', '--no-sparkplug']) v8.setFlagsFromString(flag);
  process.exit(await runGuardian(fileURLToPath(import.meta.url), args));
}

async function beCommandLine(): Promise<void> {
  const { partFromGuardian, runCommandLine } = await import('./run.js');
  const { code, isMishap } = await runCommandLine(args);
  process.exitCode = code;
  // Do not notify the guardian after an unexpected error. The guardian then restarts the agent.
  if (!isMishap) await partFromGuardian(code);
}

void (isGuarded(args) && !hasGuardian() ? beGuardian() : beCommandLine());
