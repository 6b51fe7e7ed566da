/**
 * Ends process groups: sends SIGTERM to a group, kills it if necessary, and proves that none of its processes
 * is left.
 */
import type { Machine, Processes } from '../ports/processes.js';
import { sleep } from './alarm.js';

/** Shortest and longest time between checks of a group that should be ending. */
const firstLookMs = 2;
const longestLookMs = 50;
/**
 * Number of checks after which a scan determines whether only zombies are left. In a container, process 1 may
 * reap orphans late or never. Until it does, only a scan shows that the group has ended.
 */
const looksBeforeScan = 1;
/**
 * Time to wait for proof of death after SIGKILL. A process in uninterruptible sleep does not end until its
 * sleep ends.
 */
const proofPatienceMs = 2000;

/**
 * Time that a started process may need to execute its own program. Until then, it has the environment of its
 * parent.
 */
const becomingMs = 50;

/**
 * Sends SIGTERM. Also sends SIGCONT, because a stopped process does not handle SIGTERM until it continues.
 */
export function askGroupToStop(processes: Processes, pgid: number): void {
  processes.signalGroup(pgid, 'SIGTERM');
  processes.signalGroup(pgid, 'SIGCONT');
}

/**
 * Sends SIGTERM to the group, and kills the group at the instant that `killAtMs` returns. `killAtMs` is
 * called again at every check. Resolves to true when no process of the group is left. Resolves to false if a
 * process is still left `proofPatienceMs` after the kill.
 */
export async function endGroup(machine: Machine, pgid: number, killAtMs: () => number): Promise<boolean> {
  const { clock, processes } = machine;
  if (!processes.groupExists(pgid)) return true;
  askGroupToStop(processes, pgid);
  let killedAtMs: number | null = null;
  for (let look = 0; ; look++) {
    const now = clock.monotonicMs();
    if (now >= killAtMs()) {
      processes.signalGroup(pgid, 'SIGKILL');
      killedAtMs ??= now;
    }
    await sleep(clock, Math.min(firstLookMs * 2 ** look, longestLookMs, Math.max(1, killAtMs() - now)));
    if (look < looksBeforeScan ? !processes.groupExists(pgid) : isDead(processes, pgid)) return true;
    if (killedAtMs !== null && clock.monotonicMs() - killedAtMs > proofPatienceMs) return false;
  }
}

/**
 * Whether the group is proven dead. A scan may miss a process whose parent forks it and then exits. The next
 * scan finds it. If two scans find nothing, whatever they missed is killed. Killed processes cannot fork, so
 * the scan after the kill misses nothing.
 */
function isDead(processes: Processes, pgid: number): boolean {
  if (!processes.groupExists(pgid)) return true;
  if (processes.groupIsAlive(pgid) || processes.groupIsAlive(pgid)) return false;
  processes.signalGroup(pgid, 'SIGKILL');
  return !processes.groupIsAlive(pgid);
}

/**
 * Calls `end` for every process group that contains a process with this variable and value in its
 * environment. Resolves to false if these groups cannot be determined, or if one of them has not ended.
 */
export async function endGroupsWith(
  machine: Machine,
  variable: string,
  value: string,
  end: (pgid: number) => Promise<boolean>,
): Promise<boolean> {
  for (const delayMs of [0, becomingMs]) {
    await sleep(machine.clock, delayMs);
    const found = machine.processes.groupsWith(variable, value);
    if (found === null) return false;
    const ends = await Promise.all(found.map(end));
    if (!ends.every(Boolean)) return false;
  }
  return true;
}
