/** Ending process groups: telling it to stop, killing it, and proving that nothing of it is left. */
import type { Machine, Processes } from '../ports/processes.js';
import { sleep } from './alarm.js';

/** Between looks at a group that should be going away. */
const firstLookMs = 2;
const longestLookMs = 50;
/** After this many looks, find out whether what is left are only zombies. */
const looksBeforeScan = 4;
/**
 * How long after SIGKILL to wait for the proof: a process in uninterruptible sleep dies only when that ends.
 */
const proofPatienceMs = 2000;

/** Within this long what was started has become its own program, with its own environment. */
const becomingMs = 50;

/** SIGTERM, and SIGCONT so that a stopped process hears it. */
export function askGroupToStop(processes: Processes, pgid: number): void {
  processes.signalGroup(pgid, 'SIGTERM');
  processes.signalGroup(pgid, 'SIGCONT');
}

/**
 * Asks the group to stop, kills it at `killAtMs()`, which is read again at every look, and resolves when
 * nothing of it is left: true. False when something is left a while after it was killed.
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

/** A look may miss a process that forks and exits. Killed processes fork no more: the next misses none. */
function isDead(processes: Processes, pgid: number): boolean {
  if (!processes.groupExists(pgid)) return true;
  if (processes.groupLives(pgid)) return false;
  processes.signalGroup(pgid, 'SIGKILL');
  return !processes.groupLives(pgid);
}

/**
 * Ends, by `end`, what was started with this variable in its environment, by whomever. False when that cannot
 * be told, or something is left.
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
