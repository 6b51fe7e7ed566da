/**
 * stdout and stderr of a command. A failed write ends no command and changes no verdict's exit code: a
 * verdict that nobody reads is still a verdict.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { errorMessage, PetrelError } from '../errors.js';

const lost = new AbortController();

/** Fires when stdout cannot be written any more, so that a command which prints for ever can end. */
export const stdoutLost: AbortSignal = lost.signal;

/** Call once per process, before anything is written. */
export function outliveOutput(): void {
  process.stdout.on('error', (error) => lost.abort(error));
  // There is nowhere left to report this.
  process.stderr.on('error', () => {});
}

/**
 * For a command whose only result is what it printed. Throws PetrelError FAILED if that could not be written.
 * A reader that has gone (`petrel list | head`) has had enough, which is no failure.
 */
export async function checkPrinted(): Promise<void> {
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  // The stream emits its error only after the callback.
  await turn();
  const { reason } = stdoutLost;
  if (!stdoutLost.aborted || isReaderGone(reason)) return;
  throw new PetrelError('FAILED', `cannot write the output: ${errorMessage(reason)}`, {
    cause: reason,
  });
}

function isReaderGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ECONNRESET');
}
