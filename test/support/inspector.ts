/**
 * Functions that find out whether the inspector of Node.js is open in a process, and whether the process
 * would open it.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { constants } from 'node:os';

/** Port 9229 in hexadecimal, as /proc shows it. */
const inspectorPort = ':240D';

/** Whether Node.js already handles SIGUSR1 in this process. It starts to do so before it runs any code. */
export function catchesUsr1(pid: number): boolean {
  const caught = /^SigCgt:\s*(\S+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0;
  return (BigInt(`0x${caught}`) & (1n << BigInt(constants.signals.SIGUSR1 - 1))) !== 0n;
}

export function hasInspector(pid: number): boolean {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
  return readFileSync(`/proc/${pid}/net/tcp`, 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .some(
      ([, local = '', , , , , , , , inode]) =>
        local.endsWith(inspectorPort) && links.includes(`socket:[${inode}]`),
    );
}

/** Returns the target of a link in /proc, or an empty string if the file has been closed in the meantime. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
