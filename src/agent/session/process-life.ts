/**
 * Identifies a process on this machine and checks whether it is alive. A process id alone is not enough,
 * because the system reuses ids over time and after a restart. The name of a process therefore also contains
 * its start time from /proc. If /proc does not report one, the name contains the id alone.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { guardianVariable } from '../../guardian/variables.js';
import { hasEnded, type ProcessState, parseStat } from '../../hooks/process-state.js';
import type { Host } from '../../ports/host.js';

/** Incarnations of the agents that are running in this process. */
const livingHere = new Set<string>();

/** This process on this machine. */
export const systemHost: Host = {
  name: hostname(),
  pid: process.pid,
  newIncarnation: () => randomUUID(),
  markAgentAlive(incarnation) {
    livingHere.add(incarnation);
    return () => livingHere.delete(incarnation);
  },
  isOtherAgent: ({ host, pid, incarnation }) =>
    host !== hostname() || isOtherAlive({ pid, startedAt: null }) || livingHere.has(incarnation),
};

export interface ProcessName {
  readonly pid: number;
  /** Start time of the process. Null if the system does not report it. */
  readonly startedAt: string | null;
}

export function ownProcess(): ProcessName {
  return { pid: process.pid, startedAt: lookAt(process.pid)?.startedAt ?? null };
}

export function processText({ pid, startedAt }: ProcessName): string {
  return startedAt === null ? String(pid) : `${pid} ${startedAt}`;
}

/** Returns the process that the text names. Returns null if it names none. */
export function parseProcess(text: string): ProcessName | null {
  const [pid, startedAt = null] = text.trim().split(' ');
  return /^[1-9]\d{0,9}$/.test(pid ?? '') ? { pid: Number(pid), startedAt } : null;
}

/**
 * Whether a process other than this one has this name and is alive. A process counts as alive if this process
 * has no permission to signal it. A process that has ended does not count as alive, even if its parent has
 * not waited for it yet. If this process itself has the id, the earlier owner of the id is gone.
 */
export function isOtherAlive({ pid, startedAt }: ProcessName): boolean {
  if (pid === process.pid || !exists(pid)) return false;
  const found = lookAt(pid);
  if (found !== null && hasEnded(found)) return false;
  return startedAt === null || found === null || found.startedAt === startedAt;
}

/**
 * Returns the pid of the guardian that started this agent process and restarts it if it dies. Returns null if
 * the process has no living guardian, or if the system does not show the environment of the process.
 */
export function guardianOf({ pid }: ProcessName): number | null {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    const prefix = `${guardianVariable}=`;
    const guardian = Number(variables.find((each) => each.startsWith(prefix))?.slice(prefix.length));
    // A guardian is the parent of its agent. After the guardian's death, another process may have the same
    // pid.
    return guardian > 0 && parentOf(pid) === guardian ? guardian : null;
  } catch {
    return null;
  }
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(parent);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Returns the state of the process. Returns null if the system does not report it. */
function lookAt(pid: number): ProcessState | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return null;
  }
}
