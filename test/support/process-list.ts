/** What the kernel tells of other processes. Linux only. */
import { readdir, readFile } from 'node:fs/promises';

/** A process that `parent` has started whose command line holds `name`; null when there is none now. */
export async function childOf(parent: number, name: string): Promise<number | null> {
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const [, ppid] = await statOf(pid);
    if (Number(ppid) !== parent) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
    if (command.includes(name)) return Number(pid);
  }
  return null;
}

/** False also for one that is dead and not yet waited for. */
export async function lives(pid: number): Promise<boolean> {
  const [state = 'X'] = await statOf(String(pid));
  return !'ZX'.includes(state);
}

/** State, parent and so on; empty when there is no such process. */
async function statOf(pid: string): Promise<string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return stat.length === 0 ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
