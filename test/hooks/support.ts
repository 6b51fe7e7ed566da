/** Runs real commands, and finds the processes that they leave behind. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, vi } from 'vitest';
import { CommandWorkload, type HookCommands } from '../../src/hooks/command-workload.js';
import type * as keeping from '../../src/hooks/supervisor-process.js';
import type { Supervisors } from '../../src/hooks/supervisors.js';
import { systemProcesses } from '../../src/hooks/system-processes.js';
import { createLogger, type Logger } from '../../src/log.js';
import { systemClock } from '../../src/ports/clock.js';
import type { Machine } from '../../src/ports/processes.js';
import { builtModule } from '../support/built.js';

const markName = 'PETREL_TEST_MARK';

export interface Bench {
  /** A directory for this test only. Every command finds it in `$DIR`. */
  readonly directory: string;
  /** Returns the lines of a file in the directory, or an empty list if there is no such file. */
  lines(name: string): string[];
  /** Returns all processes that this test has started directly or indirectly, including the supervisor. */
  processes(): Found[];
  workload(
    commands: Partial<HookCommands>,
    options?: { foreground?: boolean; log?: Logger },
  ): CommandWorkload;
}

export interface Found {
  readonly pid: number;
  readonly args: string;
}

/** Polls for a long time, because the machine may be busy with other work. */
export function eventually<T>(look: () => T) {
  return expect.poll(look, { timeout: 120_000, interval: 20 });
}

export const silentLog = createLogger({ level: 'silent', format: 'json' });

export const machine: Machine = { clock: systemClock, processes: systemProcesses };

/** Gives each test of the file its own bench. Fails if a test leaves a process running. */
export function bench(): () => Bench {
  let current: Bench | undefined;
  let workloads: CommandWorkload[] = [];
  let supervisors: Supervisors;
  // Uses the built module. From its source, each supervisor would need a second of CPU time to start.
  beforeAll(async () => {
    const built: typeof keeping = await import(await builtModule('hooks/supervisor-process.js'));
    supervisors = built.systemSupervisors;
  });
  beforeEach(() => {
    const mark = randomUUID();
    const directory = mkdtempSync(join(tmpdir(), 'petrel-hooks-'));
    const before = new Set(allPids());
    vi.stubEnv(markName, mark);
    vi.stubEnv('DIR', directory);
    workloads = [];
    current = {
      directory,
      lines: (name) => linesOf(join(directory, name)),
      processes: () => markedProcesses(mark, before),
      workload: (commands, options = {}) => {
        const none = { onPrepare: null, onTakeover: null, onRelease: null, onFence: null };
        const workload = new CommandWorkload({
          commands: { ...none, ...commands },
          node: 'a1',
          root: '/cluster',
          incarnation: randomUUID(),
          log: silentLog,
          ...machine,
          supervisors,
          ...options,
        });
        workloads.push(workload);
        return workload;
      },
    };
  });
  afterEach(async () => {
    for (const workload of workloads) workload.endLeadership();
    await Promise.all(workloads.map((workload) => workload.close()));
    vi.unstubAllEnvs();
    if (current === undefined) return;
    const { directory, processes } = current;
    await eventually(processes).toEqual([]);
    rmSync(directory, { recursive: true });
  });
  return () => {
    if (current === undefined) throw new Error('only in a test');
    return current;
  };
}

/** Returns a lease that is due for release after `releaseInMs`, and ends after `endsInMs`. */
export function leaseIn(releaseInMs: number, endsInMs: number) {
  const now = systemClock.monotonicMs();
  return { releaseAtMs: now + releaseInMs, endsAtMs: now + endsInMs };
}

export function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

/**
 * Returns the processes that have `mark` in their environment. Skips the processes in `before`, because
 * reading the environment of every process is too slow for each poll.
 */
function markedProcesses(mark: string, before: ReadonlySet<string>): Found[] {
  return allPids()
    .filter((pid) => !before.has(pid))
    .flatMap((pid) => {
      const environment = contentOf(`/proc/${pid}/environ`).split('\0');
      if (!environment.includes(`${markName}=${mark}`)) return [];
      return [{ pid: Number(pid), args: contentOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim() }];
    });
}

function allPids(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
}

/** Returns the content of a file, or an empty string for a zombie or for a process that is gone. */
function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Returns the most memory that a process has used so far, in MiB. */
export function residentMiB(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(contentOf(`/proc/${pid}/status`))?.[1]) / 1024;
}
