/** The exit codes of processes, as a shell tells them. */
/** Of a process that a signal has ended, or that ends because of one: 128 and the signal's number. */
export function codeOfSignal(signal: string): number {
  // Loaded by who needs it, which a guardian seldom does.
  const { constants } = process.getBuiltinModule('node:os');
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0;
  return 128 + number;
}
