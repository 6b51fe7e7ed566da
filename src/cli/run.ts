/** One run of the command line: from arguments to an exit code. */
import { CommanderError } from 'commander';
import { exitCodeOf, exitCodes, reportError } from './errors.js';
import { createProgram, withHint } from './program.js';

/** Never rejects; the caller exits with the code once all output is written. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  leaveQuietlyWhenNobodyReads();
  const program = createProgram();
  try {
    await program.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? exitCodes.done);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    // No command was named, and the help says it all.
    if (error instanceof CommanderError && error.code === 'commander.help') return exitCodes.usage;
    reportError(withHint(program, error), program.opts().format ?? process.env.PETREL_FORMAT);
    return exitCodeOf(error);
  }
}

/** `petrel list | head`: a reader that has seen enough is no error. */
function leaveQuietlyWhenNobodyReads(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(exitCodes.done);
      throw error;
    });
  }
}
