/**
 * The state of a process as the system reports it, and whether this state proves that the process has ended.
 */

export interface ProcessState {
  /** State of the process's main thread, which may end before the other threads. */
  readonly state: string;
  readonly pgid: number;
  /** Number of threads that the system has not removed yet. */
  readonly threads: number;
  /** Start time of the process, in clock ticks since the machine started. */
  readonly startedAt: string | null;
}

/** Parses the text of /proc/PID/stat. If fields are missing, the process counts as alive. */
export function parseStat(text: string): ProcessState {
  // The command's name is in parentheses and may contain any character.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', , pgid] = fields;
  return { state, pgid: Number(pgid), threads: Number(fields[17]), startedAt: fields[19] ?? null };
}

/**
 * Whether the process has ended. A zombie that still has several threads has not ended: only its main thread
 * has.
 */
export function hasEnded({ state, threads }: Pick<ProcessState, 'state' | 'threads'>): boolean {
  return (state === 'Z' || state === 'X') && threads <= 1;
}
