/**
 * Starts, signals and inspects processes of the operating system. The supervisor loads this module, so the
 * module depends only on Node.js.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { CommandLine, Exit, Processes, StartedCommand } from '../ports/processes.js';
import { takePipes } from './pipes.js';
import { hasEnded, type ProcessState, parseStat } from './process-state.js';
import { withoutSecrets } from './secret-variables.js';

/** Access to the operating system. */
export interface System {
  /** Sends a signal. If this fails, throws the system's error with its code. */
  kill(pid: number, signal: NodeJS.Signals | 0): void;
  /** Path at which /proc is mounted. */
  readonly proc: string;
}

export const systemProcesses = processesOf({
  kill: (pid, signal) => void process.kill(pid, signal),
  proc: '/proc',
});

export function processesOf(system: System): Processes {
  const exists = (pgid: number) => signalled(system, pgid, 0);
  return {
    start(command) {
      try {
        return startOf(command);
      } catch (error) {
        return notStarted(error instanceof Error ? error : new Error(String(error)));
      }
    },
    signalGroup(pgid, signal) {
      signalled(system, pgid, signal);
    },
    groupExists: exists,
    groupIsAlive: (pgid) => exists(pgid) && !onlyZombies(system.proc, pgid),
    groupsWith: (variable, value) => groupsWith(system.proc, `${variable}=${value}`),
  };
}

function startOf(command: CommandLine): StartedCommand {
  if (command.passesOutput) return started(spawned(command, 'inherit', 'inherit'));
  const pipes = takePipes();
  if (pipes === null) return started(spawned(command, 'pipe', 'pipe'));
  const { stdout, stderr } = pipes;
  const reading = [stdout, stderr].map(
    ({ readFd }) => new Socket({ fd: readFd, readable: true, writable: false }),
  );
  try {
    return started(spawned(command, stdout.writeFd, stderr.writeFd), reading);
  } catch (error) {
    for (const socket of reading) socket.destroy();
    throw error;
  } finally {
    closeSync(stdout.writeFd);
    closeSync(stderr.writeFd);
  }
}

type Output = 'inherit' | 'pipe' | number;

function spawned({ program, args, env }: CommandLine, stdout: Output, stderr: Output): ChildProcess {
  return spawn(program, args, {
    detached: true,
    env: { ...withoutSecrets(process.env), ...env },
    stdio: ['ignore', stdout, stderr],
  });
}

/**
 * Returns the started command. `output` contains stdout and stderr. If it is empty, the child's own streams
 * are used.
 */
function started(child: ChildProcess, output: readonly Readable[] = []): StartedCommand {
  // The child's streams are undefined if this process cannot open any more files.
  const [stdout = child.stdout ?? null, stderr = child.stderr ?? null] = output;
  const closes = output.map((one) => new Promise((resolve) => one.once('close', resolve)));
  const closed = new Promise((resolve) => child.once('close', resolve));
  return {
    pgid: child.pid ?? null,
    stdout,
    stderr,
    exit: new Promise((resolve) => {
      child.once('error', (error) => resolve(failedStart(error)));
      child.once('exit', (code, signal) => resolve({ code, signal, startError: null }));
    }),
    closed: Promise.all([closed, ...closes]).then(() => {}),
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

/**
 * Sends a signal to a group. Returns false only if the system reports that there is no such group. No other
 * error proves that the group is gone.
 */
function signalled({ kill }: System, pgid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    kill(-pgid, signal);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

/**
 * Whether all members of the group are zombies. False if /proc cannot be read, shows no member, or may hide
 * some members.
 */
function onlyZombies(proc: string, pgid: number): boolean {
  let members = 0;
  try {
    for (const pid of pids(proc)) {
      const state = stateOf(proc, pid);
      if (state?.pgid !== pgid) continue;
      if (!hasEnded(state)) return false;
      members += 1;
    }
    return members > 0 && showsAll(proc);
  } catch {
    return false;
  }
}

function groupsWith(proc: string, assignment: string): number[] | null {
  try {
    const bearers = pids(proc).filter((pid) => environmentOf(proc, pid).includes(assignment));
    return [...new Set(bearers.flatMap((pid) => stateOf(proc, pid)?.pgid ?? []))];
  } catch {
    return null;
  }
}

/**
 * Whether /proc shows all processes. The mount option hidepid hides other users' processes, such as those
 * that a hook runs with sudo. Throws if /proc is unreadable.
 */
function showsAll(proc: string): boolean {
  const mount = readFileSync(`${proc}/self/mountinfo`, 'latin1')
    .split('\n')
    .findLast((line) => line.split(' ')[4] === proc);
  return !/\bhidepid=(?!0\b|off\b)/.test(mount ?? '');
}

function pids(proc: string): string[] {
  return readdirSync(proc).filter((name) => /^\d+$/.test(name));
}

/**
 * Reads the environment of a process from any of its living threads, because the main thread may have ended.
 * Empty if no environment can be read.
 */
function environmentOf(proc: string, pid: string): string[] {
  const own = environmentAt(`${proc}/${pid}`);
  if (own !== null) return own;
  try {
    const threads = readdirSync(`${proc}/${pid}/task`);
    return (
      threads.map((thread) => environmentAt(`${proc}/${pid}/task/${thread}`)).find((one) => one !== null) ??
      []
    );
  } catch {
    return [];
  }
}

/** Returns the environment of a process or thread. Returns null if it cannot be read. */
function environmentAt(directory: string): string[] | null {
  try {
    return readFileSync(`${directory}/environ`, 'latin1').split('\0');
  } catch {
    return null;
  }
}

/** Reused for every read, so that a scan of all processes does not allocate memory for each of them. */
const statBuffer = Buffer.alloc(1024);

/** Returns the state of a process. Returns null if the process is gone. Throws any other error. */
function stateOf(proc: string, pid: string): ProcessState | null {
  let fd: number | null = null;
  try {
    fd = openSync(`${proc}/${pid}/stat`, 'r');
    return parseStat(statBuffer.toString('latin1', 0, readSync(fd, statBuffer, 0, statBuffer.length, 0)));
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return null;
    throw error;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null;
}
