/**
 * Which process of this machine is meant, and whether it lives. A number alone does not tell: after a restart
 * of the machine, or in time, it is given to another process. So the instant of the start goes with it, as
 * /proc tells it; where it does not, the number has to do.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { hasEnded, type ProcessState, parseStat } from '../../hooks/process-state.js';
import type { Host } from '../../ports/host.js';

/** Agents that run in this process, by incarnation. */
const livingHere = new Set<string>();

/** This process on this machine. */
export const systemHost: Host = {
  name: hostname(),
  pid: process.pid,
  newIncarnation: () => randomUUID(),
  agentLives(incarnation) {
    livingHere.add(incarnation);
    return () => livingHere.delete(incarnation);
  },
  isOtherAgent: ({ host, pid, incarnation }) =>
    host !== hostname() || isOtherAlive({ pid, startedAt: null }) || livingHere.has(incarnation),
};

export interface ProcessName {
  readonly pid: number;
  /** Null where the system does not tell. */
  readonly startedAt: string | null;
}

export function ownProcess(): ProcessName {
  return { pid: process.pid, startedAt: lookAt(process.pid)?.startedAt ?? null };
}

export function processText({ pid, startedAt }: ProcessName): string {
  return startedAt === null ? String(pid) : `${pid} ${startedAt}`;
}

/** Null when the text names no process. */
export function parseProcess(text: string): ProcessName | null {
  const [pid, startedAt = null] = text.trim().split(' ');
  return /^[1-9]\d{0,9}$/.test(pid ?? '') ? { pid: Number(pid), startedAt } : null;
}

/**
 * A process that exists and may not be signalled counts as alive, and one that has ended and that nobody has
 * waited for does not. This process is not another one, so a number that was handed out again to it says that
 * the earlier bearer is gone.
 */
export function isOtherAlive({ pid, startedAt }: ProcessName): boolean {
  if (pid === process.pid || !exists(pid)) return false;
  const found = lookAt(pid);
  if (found !== null && hasEnded(found)) return false;
  return startedAt === null || found === null || found.startedAt === startedAt;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Null where the system does not tell. */
function lookAt(pid: number): ProcessState | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return null;
  }
}
