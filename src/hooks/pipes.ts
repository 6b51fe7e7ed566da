/**
 * Pipes for the output of commands. Node.js gives its children sockets, which cannot be opened by name:
 * `echo > /dev/stderr` fails. Node.js cannot make pipes, so `mkfifo` does; the name of each is removed as
 * soon as it is open.
 *
 * Some pipes are kept ready, so that starting a command does not wait for mkfifo. Not promised: pipes where
 * there is no mkfifo, or no directory to make them in, or where more commands start at once than pipes are
 * ready and the machine is so busy that mkfifo takes longer than `patienceMs`: whoever starts commands must not
 * stand still. Commands then write to sockets.
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

/** The first is a file system in memory, on Linux. */
const places = ['/dev/shm', tmpdir()];
const batch = 8;
const fewReady = 4;
/** Longest time for which a command's start waits for mkfifo. */
const patienceMs = 300;

const ready: OutputPipes[] = [];
let filling: Promise<void> | null = null;

/** Null if no pipes can be made. */
export function takePipes(): OutputPipes | null {
  if (ready.length === 0) fillNow();
  const taken = ready.pop() ?? null;
  if (taken !== null) void keepPipesReady();
  return taken;
}

/** Makes more pipes in the background when few are left. Resolves when they are ready; never rejects. */
export function keepPipesReady(): Promise<void> {
  if (filling !== null || ready.length > fewReady) return filling ?? Promise.resolve();
  const paths = newPaths();
  if (paths === null) return Promise.resolve();
  filling = made(paths).then(() => {
    filling = null;
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

function fillNow(): void {
  const paths = newPaths();
  if (paths === null) return;
  spawnSync('mkfifo', argumentsOf(paths), { ...options(), timeout: patienceMs, killSignal: 'SIGKILL' });
  open(paths);
}

function options() {
  return { stdio: 'ignore' as const, env: { PATH: process.env.PATH } };
}

/**
 * Lets a process that was given a pipe open it as another user too, as with sudo. Nobody else can find it.
 */
function argumentsOf({ pairs }: Paths): string[] {
  return ['-m', '666', ...pairs.flat()];
}

function newPaths(): Paths | null {
  for (const place of places) {
    try {
      const directory = mkdtempSync(join(place, 'petrel-pipes-'));
      const pairs = Array.from(
        { length: batch },
        (_, n) => [join(directory, `${n}o`), join(directory, `${n}e`)] as const,
      );
      return { directory, pairs };
    } catch {}
  }
  return null;
}

/** Opens the pipes that mkfifo has made. */
function open({ directory, pairs }: Paths): void {
  try {
    for (const [stdout, stderr] of pairs) ready.push(opened(stdout, stderr));
  } catch {}
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

/** Opens the reading end first: the writing end would wait for it. */
function openedPipe(path: string): Pipe {
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { readFd, writeFd: openSync(path, constants.O_WRONLY) };
  } catch (error) {
    closeSync(readFd);
    throw error;
  }
}
