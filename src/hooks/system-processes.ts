/** The operating system's processes. The keeper runs this, so it needs nothing but Node.js. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { CommandLine, Exit, Processes, StartedCommand } from '../ports/processes.js';

export const systemProcesses: Processes = {
  start(command) {
    try {
      return started(spawned(command));
    } catch (error) {
      return notStarted(error instanceof Error ? error : new Error(String(error)));
    }
  },
  signalGroup(pgid, signal) {
    signalled(pgid, signal);
  },
  groupExists: (pgid) => signalled(pgid, 0),
  groupLives: (pgid) => signalled(pgid, 0) && !onlyZombies(pgid),
  groupsWith(variable, value) {
    try {
      const bearers = pids().filter((pid) => environmentOf(pid).includes(`${variable}=${value}`));
      return [...new Set(bearers.flatMap((pid) => readStat(pid)?.pgid ?? []))];
    } catch {
      return null;
    }
  },
};

function spawned({ program, args, env, passesOutput }: CommandLine): ChildProcess {
  const output = passesOutput ? 'inherit' : 'pipe';
  return spawn(program, args, {
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', output, output],
  });
}

function started(child: ChildProcess): StartedCommand {
  return {
    pgid: child.pid ?? null,
    stdout: child.stdout,
    stderr: child.stderr,
    exit: new Promise((resolve) => {
      child.once('error', (error) => resolve(failedStart(error)));
      child.once('exit', (code, signal) => resolve({ code, signal, startError: null }));
    }),
    closed: new Promise((resolve) => child.once('close', () => resolve())),
  };
}

function notStarted(error: Error): StartedCommand {
  return {
    pgid: null,
    stdout: null,
    stderr: null,
    exit: Promise.resolve(failedStart(error)),
    closed: Promise.resolve(),
  };
}

function failedStart(error: Error): Exit {
  const code = 'code' in error ? error.code : undefined;
  return { code: null, signal: null, startError: String(code ?? error.message) };
}

/** False when there is no such group. */
function signalled(pgid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pgid, signal);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** False where /proc does not tell, or shows no member at all: it may hide other users' processes. */
function onlyZombies(pgid: number): boolean {
  try {
    const states = pids()
      .map(readStat)
      .filter((stat) => stat?.pgid === pgid)
      .map((stat) => stat?.state);
    return states.length > 0 && states.every((state) => state === 'Z' || state === 'X');
  } catch {
    return false;
  }
}

function pids(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
}

/** Empty for a process that is gone, a zombie, or another user's. */
function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return [];
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
