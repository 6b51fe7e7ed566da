/**
 * Pipes for the output of commands. Node.js gives its children sockets, which cannot be opened by name, so
 * `echo > /dev/stderr` would fail. Node.js cannot create pipes, so `mkfifo` creates them. The name of each
 * pipe is removed as soon as the pipe is open.
 *
 * Some pipes are kept ready, so that a command can start without waiting for mkfifo. If there are no pipes,
 * commands write to sockets instead.
 *
 * Not promised: that every command gets pipes. Pipes require mkfifo, and a directory in which mkfifo can
 * create them. If many commands start at the same time, the pipes that are ready may not suffice, and new
 * pipes must be created. If mkfifo then takes longer than `patienceMs` because the machine is busy, the
 * commands get no pipes: a process that starts commands must not stall.
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Pipe {
  readonly readFd: number;
  readonly writeFd: number;
}

/** The pipes of one command. */
export interface OutputPipes {
  readonly stdout: Pipe;
  readonly stderr: Pipe;
}

/**
 * Directories in which pipes can be created. The directory that worked most recently comes first. On Linux,
 * the first default is an in-memory file system.
 */
let places: readonly string[] = ['/dev/shm', tmpdir()];
const batch = 8;
const fewReady = 4;
/** Maximum time to wait for mkfifo, per directory, when a command is started. */
const patienceMs = 300;

const ready: OutputPipes[] = [];
let filling: Promise<void> | null = null;

/** Returns the pipes for one command. Returns null if no pipes can be created. */
export function takePipes(): OutputPipes | null {
  if (ready.length === 0) fillNow();
  const taken = ready.pop() ?? null;
  if (taken !== null) void keepPipesReady();
  return taken;
}

/** Creates more pipes in the background when few are left. Resolves when they are ready. Never rejects. */
export function keepPipesReady(): Promise<void> {
  if (filling !== null || ready.length > fewReady) return filling ?? Promise.resolve();
  const paths = firstPaths();
  if (paths === null) return Promise.resolve();
  const remove = () => removed(paths);
  process.once('exit', remove);
  filling = made(paths).then(() => {
    filling = null;
    process.off('exit', remove);
    open(paths);
  });
  return filling;
}

function made(paths: Paths): Promise<void> {
  return new Promise((resolve) => {
    try {
      const maker = spawn('mkfifo', argumentsOf(paths), options());
      maker
        .once('error', () => resolve())
        .once('exit', () => resolve())
        .unref();
    } catch {
      resolve();
    }
  });
}

function closePipe({ readFd, writeFd }: Pipe): void {
  closeSync(readFd);
  closeSync(writeFd);
}

interface Paths {
  readonly directory: string;
  readonly pairs: readonly (readonly [string, string])[];
}

/**
 * Creates pipes and waits for mkfifo. If this fails, tries the next place, because a place may accept a
 * directory but no pipes.
 */
function fillNow(): void {
  for (const place of places) {
    const paths = newPaths(place);
    if (paths === null) continue;
    spawnSync('mkfifo', argumentsOf(paths), { ...options(), timeout: patienceMs, killSignal: 'SIGKILL' });
    open(paths);
    if (ready.length === 0) continue;
    places = [place, ...places.filter((other) => other !== place)];
    return;
  }
}

function options() {
  return { stdio: 'ignore' as const, env: { PATH: process.env.PATH } };
}

/**
 * Returns mkfifo's arguments. The mode allows a process that inherited a pipe to reopen it, even as another
 * user (for example with sudo). No other process can find the pipe.
 */
function argumentsOf({ pairs }: Paths): string[] {
  return ['-m', '666', ...pairs.flat()];
}

function firstPaths(): Paths | null {
  for (const place of places) {
    const paths = newPaths(place);
    if (paths !== null) return paths;
  }
  return null;
}

/**
 * Creates a directory, and returns paths for new pipes in it. Returns null if the directory cannot be
 * created.
 */
function newPaths(place: string): Paths | null {
  try {
    const directory = mkdtempSync(join(place, 'petrel-pipes-'));
    const pairs = Array.from(
      { length: batch },
      (_, n) => [join(directory, `${n}o`), join(directory, `${n}e`)] as const,
    );
    return { directory, pairs };
  } catch {
    return null;
  }
}

/** Opens the pipes that mkfifo has created. */
function open(paths: Paths): void {
  try {
    for (const [stdout, stderr] of paths.pairs) ready.push(opened(stdout, stderr));
  } catch {}
  removed(paths);
}

function removed({ directory }: Paths): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {}
}

function opened(stdout: string, stderr: string): OutputPipes {
  const first = openedPipe(stdout);
  try {
    return { stdout: first, stderr: openedPipe(stderr) };
  } catch (error) {
    closePipe(first);
    throw error;
  }
}

/** Opens a pipe. The read end must be opened first, because opening the write end would otherwise block. */
function openedPipe(path: string): Pipe {
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { readFd, writeFd: openSync(path, constants.O_WRONLY) };
  } catch (error) {
    closeSync(readFd);
    throw error;
  }
}
