/** What the kernel reports about other processes. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

/** A process started by `parent` whose command line contains `name`. Null while there is none. */
export function childOf(parent: number, name: string): number | null {
  return childrenOf(parent).find((pid) => commandOf(pid).includes(name)) ?? null;
}

/** Zombies included. */
export function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => Number(statOf(pid)[1]) === parent).map(Number);
}

/** Its arguments, separated by NULs. Empty if there is no such process. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

/** False also for a dead process that has not been reaped. */
export function isAlive(pid: number): boolean {
  const [state = 'X'] = statOf(String(pid));
  return !'ZX'.includes(state);
}

/** State, parent and so on. Empty if there is no such process. */
function statOf(pid: string): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
