/** Ending a process group: telling it to stop, killing it, and proving that nothing of it is left. */
import type { Machine, Processes } from '../ports/processes.js';
import { sleep } from './alarm.js';

/** Between looks at a group that should be going away. */
const firstLookMs = 2;
const longestLookMs = 50;
/** After this many looks, find out whether what is left are only zombies. */
const looksBeforeScan = 4;
/** How long after SIGKILL to wait for the proof: a process in uninterruptible sleep dies only when that ends. */
const proofPatienceMs = 2000;

/** SIGTERM, and SIGCONT so that a stopped process hears it. */
export function askGroupToStop(processes: Processes, pgid: number): void {
  processes.signalGroup(pgid, 'SIGTERM');
  processes.signalGroup(pgid, 'SIGCONT');
}

/**
 * Asks the group to stop, kills it at `killAtMs()`, which is read again at every look, and resolves when nothing
 * of it is left: true. False when something is left a while after it was killed.
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
    if (look < looksBeforeScan ? !processes.groupExists(pgid) : !processes.groupLives(pgid)) return true;
    if (killedAtMs !== null && clock.monotonicMs() - killedAtMs > proofPatienceMs) return false;
  }
}
