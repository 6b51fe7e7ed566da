/**
 * stdout and stderr of a command. A failed write does not end a command, and does not change the exit code of
 * a verdict. A verdict that cannot be printed is still valid.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { errorMessage, PetrelError } from '../errors.js';

const lost = new AbortController();

/** Fires when stdout can no longer be written, so that a command with endless output can end. */
export const stdoutLost: AbortSignal = lost.signal;

/** Call this once per process, before anything is written. */
export function outliveOutput(): void {
  process.stdout.on('error', (error) => lost.abort(error));
  // There is no way left to report this.
  process.stderr.on('error', () => {});
}

/**
 * For a command whose only result is its output. Throws PetrelError FAILED if that could not be written. It
 * is not an error if the reader closes the output early (`petrel list | head`).
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
