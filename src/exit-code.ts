/** The exit codes of processes. Scripts rely on them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  /** Wrong usage or configuration. Nothing was tried. */
  usage: 2,
  /** ZooKeeper cannot be reached. */
  unreachable: 3,
  forbidden: 4,
  /** Refused, with reasons. Nothing was changed. */
  refused: 5,
  /** Still under way when the wait ended. */
  underWay: 6,
  leadershipLost: 7,
  interrupted: 130,
} as const;

/** Returns the exit code of a process that ended because of a signal: 128 plus the signal's number. */
export function codeOfSignal(signal: string): number {
  // Loaded on demand: a guardian rarely needs it.
  const { constants } = process.getBuiltinModule('node:os');
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0;
  return 128 + number;
}
