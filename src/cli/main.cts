#!/usr/bin/env node
/**
 * Where every process of Petrel begins: as a guardian, or as the command line. CommonJS, because loading ES modules
 * takes memory and time that a guardian has no use for.
 */
import path = require('node:path');
import v8 = require('node:v8');
import inspector = require('../inspector.cjs');
import programFile = require('../program-file.cjs');
import guardedCommands = require('./guarded.cjs');

const args = process.argv.slice(2);

inspector.keepInspectorClosed();
// Sent by the same tools; by default it ends the process.
process.on('SIGUSR2', () => {});
// A service manager may ask for a reload before the agent has read any settings.
if (guardedCommands.hasGuardian()) process.on('SIGHUP', () => {});

/** Compiled, each program is one file (`npm run build`). */
const isSource = __filename.endsWith('.cts');

async function beGuardian(): Promise<void> {
  const program: typeof import('../guardian/program.js', { with: { 'resolution-mode': 'import' }}) = isSource
    ? await import('../guardian/program.js')
    : programFile.loadProgram(path.join(__dirname, '../guardian/program.cjs'));
  // It does next to nothing, so it has no use for compilers: megabytes of them stay untouched. Not before all is loaded:
  // what Node.js has compiled of its own in advance would not do under other flags.
  for (const flag of ['--no-opt', '--no-sparkplug']) v8.setFlagsFromString(flag);
  process.exit(await program.runGuardian(__filename, args));
}

/** Commands that import the package petrel-lab. A program that runs from kept code cannot import anything. */
const importing: readonly string[] = ['lab', 'simulate'];

async function beCommandLine(): Promise<void> {
  const load = importing.includes(guardedCommands.commandOf(args) ?? '') ? require : programFile.loadProgram;
  const program: typeof import('./run.js', { with: { 'resolution-mode': 'import' }}) = isSource
    ? await import('./run.js')
    : load(path.join(__dirname, 'run.cjs'));
  const { code, isMishap } = await program.runCommandLine(args);
  process.exitCode = code;
  // A guardian starts an agent again that ended of nothing foreseen.
  if (!isMishap) await program.partFromGuardian(code);
}

void (guardedCommands.isGuarded(args) && !guardedCommands.hasGuardian() ? beGuardian() : beCommandLine());
