/**
 * stdout and stderr of a command. What cannot be written ends no command, and takes the place of no exit code: a verdict
 * that nobody reads is a verdict all the same.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { errorMessage, PetrelError } from '../errors.js';

const lost = new AbortController();

/** Fires when stdout takes no more: a command that would print for ever has nobody to print for. */
export const stdoutLost: AbortSignal = lost.signal;

/** Once a process, before anything is written. */
export function outliveOutput(): void {
  process.stdout.on('error', (error) => lost.abort(error));
  // Nobody is left to be told.
  process.stderr.on('error', () => {});
}

/**
 * For a command whose only result is what it printed. Throws PetrelError FAILED where that could not be written. A reader
 * that has gone (`petrel list | head`) has had enough, which is no failure.
 */
export async function checkPrinted(): Promise<void> {
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  // The stream tells of the error after it has called back.
  await turn();
  const { reason } = stdoutLost;
  if (!stdoutLost.aborted || isReaderGone(reason)) return;
  throw new PetrelError('FAILED', `the output could not be written: ${errorMessage(reason)}`, {
    cause: reason,
  });
}

function isReaderGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ECONNRESET');
}
