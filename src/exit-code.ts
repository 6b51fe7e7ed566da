/** The exit codes of processes. Scripts rely on them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  /** Invalid usage or configuration. No action was taken. */
  usage: 2,
  /** ZooKeeper cannot be reached. */
  unreachable: 3,
  forbidden: 4,
  /** A request was refused, with reasons. Nothing was changed. */
  refused: 5,
  /** The time limit was reached while the operation was still in progress. */
  underWay: 6,
  leadershipLost: 7,
  interrupted: 130,
} as const;

/** Returns the exit code of a process that ended because of a signal: 128 plus the signal's number. */
export function codeOfSignal(signal: string): number {
  // Loaded on demand, because a guardian rarely needs this module.
  const { constants } = process.getBuiltinModule('node:os');
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0;
  return 128 + number;
}
