/** What the system tells of a process, and when that proves that the process has ended. */

export interface ProcessState {
  /** Of its main thread, which may end before the others. */
  readonly state: string;
  readonly pgid: number;
  /** Those that the system has not cleared away yet. */
  readonly threads: number;
  /** In clock ticks since the machine's start. */
  readonly startedAt: string | null;
}

/** The text of /proc/PID/stat. What it does not say counts as a process that lives. */
export function parseStat(text: string): ProcessState {
  // The command's name, in parentheses, may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', , pgid] = fields;
  return { state, pgid: Number(pgid), threads: Number(fields[17]), startedAt: fields[19] ?? null };
}

/** A zombie has ended; but one that has threads left is only a process whose main thread has. */
export function hasEnded({ state, threads }: Pick<ProcessState, 'state' | 'threads'>): boolean {
  return (state === 'Z' || state === 'X') && threads <= 1;
}
