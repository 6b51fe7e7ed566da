/**
 * stdout and stderr of a command. A failed write does not end a command. Nor does it change an exit code that
 * reports a verdict, because a verdict that cannot be printed is still valid.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { errorMessage, PetrelError } from '../errors.js';

const lost = new AbortController();

/** Aborts when stdout can no longer be written to, so that a command with endless output can end. */
export const stdoutLost: AbortSignal = lost.signal;

/** Makes the process survive failed writes. Call this once per process, before anything is written. */
export function outliveOutput(): void {
  process.stdout.on('error', (error) => lost.abort(error));
  // Ignore the error: without stderr, there is no way to report it.
  process.stderr.on('error', () => {});
}

/**
 * Checks that the output was written. Used for a command whose only result is its output. Throws PetrelError
 * FAILED if the output could not be written. It is not an error if the reader closes the output early
 * (`petrel list | head`).
 */
export async function checkPrinted(): Promise<void> {
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  // The stream emits its error only after the callback, so wait one more event-loop turn.
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
