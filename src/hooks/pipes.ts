/**
 * Pipes for what commands write. What Node.js gives a child to write to is a socket, and a socket cannot be opened by name:
 * `echo > /dev/stderr` fails. Node.js makes no pipes, so `mkfifo` does; each loses its name as soon as it is open.
 *
 * Some are kept ready, so that the start of a command does not wait for another's. Not promised: pipes where there is no
 * mkfifo, or nowhere to make them. Then commands write to sockets.
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Pipe {
  readonly readFd: number;
  readonly writeFd: number;
}

/** Of one command. */
export interface OutputPipes {
  readonly stdout: Pipe;
  readonly stderr: Pipe;
}

/** The first is a file system in memory, on Linux. */
const places = ['/dev/shm', tmpdir()];
const batch = 4;
const fewReady = 1;
/** A command is not held up for longer. */
const patienceMs = 1_000;

const ready: OutputPipes[] = [];
let isFilling = false;

/** Null where there are none. */
export function takePipes(): OutputPipes | null {
  if (ready.length === 0) fillNow();
  const taken = ready.pop() ?? null;
  if (taken !== null && ready.length <= fewReady) keepPipesReady();
  return taken;
}

/** Makes some, if there are few, without holding anything up. */
export function keepPipesReady(): void {
  if (isFilling || ready.length > fewReady) return;
  const paths = newPaths();
  if (paths === null) return;
  isFilling = true;
  const done = () => {
    isFilling = false;
    open(paths);
  };
  try {
    const maker = spawn('mkfifo', argumentsOf(paths), options());
    maker.once('error', done).once('exit', done).unref();
  } catch {
    done();
  }
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
  spawnSync('mkfifo', argumentsOf(paths), { ...options(), timeout: patienceMs });
  open(paths);
}

function options() {
  return { stdio: 'ignore' as const, env: { PATH: process.env.PATH } };
}

/** Who has been given one may open it, also as another user, as with sudo; nobody else finds it. */
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

/** Those that were made. */
function open({ directory, pairs }: Paths): void {
  try {
    for (const [stdout, stderr] of pairs) ready.push(opened(stdout, stderr));
  } catch {}
  rmSync(directory, { recursive: true, force: true });
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

/** The reading end first: without one the other would wait for it. */
function openedPipe(path: string): Pipe {
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { readFd, writeFd: openSync(path, constants.O_WRONLY) };
  } catch (error) {
    closeSync(readFd);
    throw error;
  }
}
