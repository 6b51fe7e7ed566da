/** What the kernel tells of other processes. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

/** A process that `parent` has started whose command line holds `name`; null when there is none now. */
export function childOf(parent: number, name: string): number | null {
  return childrenOf(parent).find((pid) => commandOf(pid).includes(name)) ?? null;
}

/** Zombies included. */
export function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => Number(statOf(pid)[1]) === parent).map(Number);
}

/** Its arguments, parted by NULs; empty when there is no such process. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

/** False also for one that is dead and not yet waited for. */
export function isAlive(pid: number): boolean {
  const [state = 'X'] = statOf(String(pid));
  return !'ZX'.includes(state);
}

/** State, parent and so on; empty when there is no such process. */
function statOf(pid: string): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
