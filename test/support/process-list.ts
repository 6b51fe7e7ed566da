/** Looks up other processes in /proc, and sends them signals. Works on Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Returns a process that `parent` started and whose command line contains `name`. Returns null if there is
 * none.
 */
export function childOf(parent: number, name: string): number | null {
  return childrenOf(parent).find((pid) => commandOf(pid).includes(name)) ?? null;
}

/** Returns the child processes of `parent`, including zombies. */
export function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => Number(statOf(pid)[1]) === parent).map(Number);
}

/**
 * Returns the arguments of a process, separated by NULs. Returns an empty string if there is no such process.
 */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

/** Whether a process is alive. A zombie does not count as alive. */
export function isAlive(pid: number): boolean {
  const [state = 'X'] = statOf(String(pid));
  return !'ZX'.includes(state);
}

/**
 * Returns the fields of /proc/PID/stat from the state on. Returns an empty list if there is no such process.
 */
function statOf(pid: string): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** Returns the processes that are alive and have this text in their environment, except this process. */
export function processesWith(text: string): number[] {
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return pids.filter((pid) => pid !== process.pid && environmentOf(pid).includes(text) && isAlive(pid));
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}

/** Sends a signal. Ignores a process that has already exited. */
export function signalIfAlive(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
