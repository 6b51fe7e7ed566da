/** Runs one command line: parses the arguments, runs the command, and determines the exit code. */
import { CommanderError } from 'commander';
import * as z from 'zod';
import { exitCodes } from '../exit-code.js';
import { compiledEarly } from './early-code.js';
import { exitCodeOf, isForeseen, reportError } from './errors.js';
import { asksForVersion, commandOf, isGuarded } from './guarded.js';
import { checkPrinted, outliveOutput } from './outlet.js';
import { createProgram, withHint } from './program.js';
import { inPlainWords, unlessUnknown } from './usage-errors.js';

// A process uses most schemas only a few times, so compiling them would cost more time than it saves.
z.config({ jitless: true });

export { partFromGuardian } from '../guardian/parent-process.js';

export interface CommandLineEnd {
  readonly code: number;
  /** Whether the command line ended with an unexpected error. */
  readonly isMishap: boolean;
}

/**
 * Runs a command line. Never rejects. The caller exits with the returned code after all output has been
 * written.
 */
export async function runCommandLine(args: readonly string[]): Promise<CommandLineEnd> {
  outliveOutput();
  const load = () => createProgram(asksForVersion(args) ? null : commandOf(args));
  const program = await (isGuarded(args) ? compiledEarly(load) : load());
  try {
    await program.parseAsync(unlessUnknown(program, args), { from: 'user' });
    return asMeant(Number(process.exitCode ?? (await codeOfPrinting())));
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return asMeant(await codeOfPrinting());
    // No command was given, so the help was printed.
    if (error instanceof CommanderError && error.code === 'commander.help') return asMeant(exitCodes.usage);
    reportError(
      inPlainWords(await withHint(error), program, args),
      program.opts().format ?? process.env.PETREL_FORMAT,
    );
    return { code: exitCodeOf(error), isMishap: !isForeseen(error) };
  }
}

function asMeant(code: number): CommandLineEnd {
  return { code, isMishap: false };
}

/**
 * Returns the exit code of a command that has no verdict. The only result of such a command is its output.
 */
async function codeOfPrinting(): Promise<number> {
  try {
    await checkPrinted();
    return exitCodes.done;
  } catch (error) {
    reportError(error, process.env.PETREL_FORMAT);
    return exitCodeOf(error);
  }
}
