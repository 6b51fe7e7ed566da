import { readdir, readFile } from 'node:fs/promises';

/** A process that `parent` has started whose command line holds `name`; null when there is none now. Linux only. */
export async function childOf(parent: number, name: string): Promise<number | null> {
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
    const [, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(ppid) !== parent) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
    if (command.includes(name)) return Number(pid);
  }
  return null;
}
