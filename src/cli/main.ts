#!/usr/bin/env node
/**
 * Every process of Petrel begins here: as a guardian, or as the command line. Neither loads the other's
 * program.
 */
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';
import { keepInspectorClosed } from '../inspector.js';
import { hasGuardian, isGuarded } from './guarded.js';

const args = process.argv.slice(2);

keepInspectorClosed();
// Sent by the same tools; by default it ends the process.
process.on('SIGUSR2', () => {});
// A service manager may ask for a reload before the agent has read any settings.
if (hasGuardian()) process.on('SIGHUP', () => {});

async function beGuardian(): Promise<void> {
  const { runGuardian } = await import('../guardian/program.js');
  // It does next to nothing, so it has no use for compilers: megabytes of them stay untouched. Not before all
  // is loaded: what Node.js has compiled of its own in advance would not do under other flags.
  for (const flag of ['--no-opt', '--no-sparkplug']) v8.setFlagsFromString(flag);
  process.exit(await runGuardian(fileURLToPath(import.meta.url), args));
}

async function beCommandLine(): Promise<void> {
  const { partFromGuardian, runCommandLine } = await import('./run.js');
  const { code, isMishap } = await runCommandLine(args);
  process.exitCode = code;
  // A guardian starts an agent again that ended of nothing foreseen.
  if (!isMishap) await partFromGuardian(code);
}

void (isGuarded(args) && !hasGuardian() ? beGuardian() : beCommandLine());
