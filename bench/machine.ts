/** Reads the kernel's figures for processes and for the machine. Works only on Linux. */
import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf } from '../test/support/process-list.js';

/**
 * Returns how long a thread has computed, and has waited for a core, in milliseconds. `thread` is by default
 * the main thread. Rejects if the thread has ended.
 */
export async function threadTimes(
  pid: number,
  thread = pid,
): Promise<{ computedMs: number; waitedMs: number }> {
  const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8');
  const [computed, waited] = text.split(' ').map(Number);
  if (computed === undefined || waited === undefined)
    throw new Error('the kernel does not count the times of threads');
  return { computedMs: computed / 1e6, waitedMs: waited / 1e6 };
}

/** Returns the CPU seconds that a process has used, summed over its threads. */
export async function cpuSeconds(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const usedMs = await Promise.all(
    threads.map(async (thread) => {
      const { computedMs } = await threadTimes(pid, Number(thread)).catch(() => ({ computedMs: 0 }));
      return computedMs;
    }),
  );
  return usedMs.reduce((sum, ms) => sum + ms, 0) / 1000;
}

/** Returns the CPU seconds of a process and of its descendants, including those that have ended. */
export async function cpuSecondsOfTree(pid: number): Promise<number> {
  const below = await Promise.all(childrenOf(pid).map(cpuSecondsOfTree));
  const own = (await cpuSeconds(pid)) + (await cpuSecondsOfEnded(pid));
  return below.reduce((sum, one) => sum + one, own);
}

/**
 * Returns the CPU seconds of the descendants that have ended and been waited for. The kernel counts in 10 ms.
 */
export async function cpuSecondsOfEnded(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15)
    .map(Number);
  return ((user ?? Number.NaN) + (system ?? Number.NaN)) / ticksPerSecond;
}

/** Ticks in which /proc counts time. All architectures of Linux that Node.js runs on have this value. */
const ticksPerSecond = 100;

export interface Memory {
  readonly residentMb: number;
  /** Resident memory in which shared pages count in proportion to the number of processes that share them. */
  readonly proportionalMb: number;
}

export async function memoryOf(pid: number): Promise<Memory> {
  const [status, rollup] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readFile(`/proc/${pid}/smaps_rollup`, 'utf8'),
  ]);
  return { residentMb: field(status, 'VmRSS') / 1024, proportionalMb: field(rollup, 'Pss') / 1024 };
}

function field(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]);
}

const looksEveryMs = 150;
const quietShare = 0.25;

/**
 * Waits until the machine is nearly idle, but no longer than `atMostMs`. Returns the share of its processors
 * that was in use at the end.
 */
export async function quiet(atMostMs: number): Promise<number> {
  const endsAtMs = performance.now() + atMostMs;
  for (;;) {
    const before = await processorTicks();
    await sleep(looksEveryMs);
    const after = await processorTicks();
    const busy = 1 - (after.idle - before.idle) / Math.max(1, after.all - before.all);
    if (busy < quietShare || performance.now() > endsAtMs) return busy;
  }
}

async function processorTicks(): Promise<{ readonly all: number; readonly idle: number }> {
  const text = await readFile('/proc/stat', 'utf8');
  const ticks = text.slice(0, text.indexOf('\n')).split(/\s+/).slice(1, 9).map(Number);
  return { all: ticks.reduce((sum, one) => sum + one, 0), idle: (ticks[3] ?? 0) + (ticks[4] ?? 0) };
}

export function machineName(): string {
  const model = cpus()[0]?.model.trim() ?? '';
  return `${availableParallelism()} processors${model === '' ? '' : ` (${model})`}, Node.js ${process.versions.node}`;
}
