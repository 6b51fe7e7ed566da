/**
 * Process groups: telling one to stop, killing it, and proving that nothing of it is left.
 *
 * A process that moved itself to a group of its own (setsid, a service manager) is not seen and not killed.
 * The keeper runs this, so it needs nothing but Node.js.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../ports/clock.js';

/** Between looks at a group that should be going away. */
const firstLookMs = 2;
const longestLookMs = 50;
/** After this many looks, find out whether what is left are only zombies. */
const looksBeforeScan = 4;
/** How long after SIGKILL to wait for the proof: a process in uninterruptible sleep dies only when that ends. */
const proofPatienceMs = 2000;

/** A group that is not there, or not ours to signal, is no error: `groupLives` tells. */
export function signalGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pgid, signal);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** SIGTERM, and SIGCONT so that a stopped process hears it. */
export function askGroupToStop(pgid: number): void {
  signalGroup(pgid, 'SIGTERM');
  signalGroup(pgid, 'SIGCONT');
}

/** Whether a process of the group runs. Zombies do not: where nobody reaps orphans they stay for ever. */
export function groupLives(pgid: number): boolean {
  return signalGroup(pgid, 0) && !onlyZombies(pgid);
}

/**
 * Asks the group to stop, kills it at `killAtMs()`, which is read again at every look, and resolves when nothing
 * of it is left: true. False when something is left a while after it was killed.
 */
export async function endGroup(pgid: number, killAtMs: () => number): Promise<boolean> {
  if (!signalGroup(pgid, 0)) return true;
  askGroupToStop(pgid);
  let killedAtMs: number | null = null;
  for (let look = 0; ; look++) {
    const now = systemClock.monotonicMs();
    if (now >= killAtMs()) {
      signalGroup(pgid, 'SIGKILL');
      killedAtMs ??= now;
    }
    await sleep(Math.min(firstLookMs * 2 ** look, longestLookMs, Math.max(1, killAtMs() - now)));
    if (look < looksBeforeScan ? !signalGroup(pgid, 0) : !groupLives(pgid)) return true;
    if (killedAtMs !== null && systemClock.monotonicMs() - killedAtMs > proofPatienceMs) return false;
  }
}

/** False where /proc does not tell, or shows no member at all: it may hide other users' processes. */
function onlyZombies(pgid: number): boolean {
  try {
    const states = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(readStat)
      .filter((stat) => stat?.pgid === pgid)
      .map((stat) => stat?.state);
    return states.length > 0 && states.every((state) => state === 'Z' || state === 'X');
  } catch {
    return false;
  }
}

function readStat(pid: string): { state: string; pgid: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command's name, in parentheses, may hold anything.
    const [state = '', , pgid] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state, pgid: Number(pgid) };
  } catch {
    return null;
  }
}
