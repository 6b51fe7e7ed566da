/** The exit codes of processes, as a shell tells them. */
import { constants } from 'node:os';

/** Of a process that a signal has ended, or that ends because of one: 128 and the signal's number. */
export function codeOfSignal(signal: string): number {
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0;
  return 128 + number;
}
