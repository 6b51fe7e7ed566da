/** The state of a process as the system reports it, and when that proves that the process has ended. */

export interface ProcessState {
  /** State of its main thread, which may end before the others. */
  readonly state: string;
  readonly pgid: number;
  /** Threads that the system has not removed yet. */
  readonly threads: number;
  /** In clock ticks since the machine started. */
  readonly startedAt: string | null;
}

/** Parses the text of /proc/PID/stat. A process with missing fields counts as alive. */
export function parseStat(text: string): ProcessState {
  // The command's name, in parentheses, may contain anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', , pgid] = fields;
  return { state, pgid: Number(pgid), threads: Number(fields[17]), startedAt: fields[19] ?? null };
}

/**
 * Whether the process has ended, as a zombie has. If it has other threads left, only its main thread has
 * ended.
 */
export function hasEnded({ state, threads }: Pick<ProcessState, 'state' | 'threads'>): boolean {
  return (state === 'Z' || state === 'X') && threads <= 1;
}
