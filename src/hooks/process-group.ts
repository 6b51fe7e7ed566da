/** Ends process groups: sends SIGTERM to a group, kills it, and proves that nothing of it is left. */
import type { Machine, Processes } from '../ports/processes.js';
import { sleep } from './alarm.js';

/** Shortest and longest time between two checks of a group that should be ending. */
const firstLookMs = 2;
const longestLookMs = 50;
/**
 * Number of checks after which a scan determines whether only zombies are left. In a container, process 1 may
 * reap orphans late or never, and until then every other check finds the group.
 */
const looksBeforeScan = 1;
/**
 * Time to wait for the proof after SIGKILL. A process in uninterruptible sleep ends only when the sleep ends.
 */
const proofPatienceMs = 2000;

/** Time within which a started process executes its own program, with its own environment. */
const becomingMs = 50;

/** Sends SIGTERM, and SIGCONT so that a stopped process receives it. */
export function askGroupToStop(processes: Processes, pgid: number): void {
  processes.signalGroup(pgid, 'SIGTERM');
  processes.signalGroup(pgid, 'SIGCONT');
}

/**
 * Sends SIGTERM to the group, and kills it at `killAtMs()`, which is called again at every check. Resolves to
 * true when nothing of the group is left. Resolves to false if something is left some time after the kill.
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
 * Whether the group is proven dead. A scan may miss a process that forks and exits. Killed processes no
 * longer fork, so the next scan misses none.
 */
function isDead(processes: Processes, pgid: number): boolean {
  if (!processes.groupExists(pgid)) return true;
  if (processes.groupIsAlive(pgid)) return false;
  processes.signalGroup(pgid, 'SIGKILL');
  return !processes.groupIsAlive(pgid);
}

/**
 * Calls `end` for every process group that contains a process with this variable in its environment. False if
 * these groups cannot be determined, or one of them has not ended.
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
