/** The exit codes of processes. Scripts rely on them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  /** Wrong usage or configuration; nothing was tried. */
  usage: 2,
  /** ZooKeeper is out of reach. */
  unreachable: 3,
  forbidden: 4,
  /** Refused, with reasons; nothing was changed. */
  refused: 5,
  /** Still under way when the wait ended. */
  underWay: 6,
  leadershipLost: 7,
  interrupted: 130,
} as const;

/** Of a process that a signal has ended, or that ends because of one: 128 and the signal's number. */
export function codeOfSignal(signal: string): number {
  // Loaded by who needs it, which a guardian seldom does.
  const { constants } = process.getBuiltinModule('node:os');
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0;
  return 128 + number;
}
