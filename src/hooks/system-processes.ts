/** The operating system's processes. The keeper runs this, so it needs nothing but Node.js. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import type { CommandLine, Exit, Processes, StartedCommand } from '../ports/processes.js';
import { withoutSecrets } from './secret-variables.js';

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
    env: { ...withoutSecrets(process.env), ...env },
    stdio: ['ignore', output, output],
  });
}

function started(child: ChildProcess): StartedCommand {
  return {
    pgid: child.pid ?? null,
    stdout: child.stdout ?? null,
    stderr: child.stderr ?? null,
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
  let members = 0;
  try {
    for (const pid of pids()) {
      const stat = readStat(pid);
      if (stat?.pgid !== pgid) continue;
      if (stat.state !== 'Z' && stat.state !== 'X') return false;
      members += 1;
    }
  } catch {
    return false;
  }
  return members > 0;
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

/** Read into one buffer again and again: a look at every process of the machine should not take memory for each. */
const statBuffer = Buffer.alloc(1024);

function readStat(pid: string): { state: string; pgid: number } | null {
  let fd: number | null = null;
  try {
    fd = openSync(`/proc/${pid}/stat`, 'r');
    const text = statBuffer.toString('latin1', 0, readSync(fd, statBuffer, 0, statBuffer.length, 0));
    // The command's name, in parentheses, may hold anything.
    const [state = '', , pgid] = text.slice(text.lastIndexOf(')') + 2).split(' ', 3);
    return { state, pgid: Number(pgid) };
  } catch {
    return null;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}
