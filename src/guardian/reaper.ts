/**
 * The last guard: a shell that waits at the end of a pipe for the guardian's death, however that comes, and
 * then kills the process groups that the guardian ran. With it, a workload dies with its guardian also when
 * the agent, which would end it otherwise, is killed at the same instant.
 *
 * Not covered: all three killed at once (then whoever killed them has to kill the workload, as a container's
 * end and systemd's `KillMode=control-group` and `mixed` do), a process group started within the last moments
 * of the guardian, and systems without /bin/sh.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { withoutSecrets } from '../hooks/secret-variables.js';

/** Each line is all groups that live now. Signals to a whole service must not take it away. */
const script = `trap '' TERM INT HUP QUIT USR1 USR2 PIPE
while read -r line; do groups=$line; done
for group in $groups; do kill -s KILL -- "-$group"; done`;

/** Between two starts. */
const minIntervalMs = 1_000;

export class Reaper {
  #shell: ChildProcess | null = null;
  #groups = '';
  #isClosed = false;
  #startedAtMs = 0;

  constructor() {
    this.#start();
  }

  /** The groups that live now. */
  watchOver(pgids: readonly number[]): void {
    this.#groups = pgids.join(' ');
    this.#shell?.stdin?.write(`${this.#groups}\n`);
  }

  /** Nothing lives any more. */
  close(): void {
    this.#isClosed = true;
    this.#shell?.stdin?.end('\n');
  }

  #start(): void {
    this.#startedAtMs = performance.now();
    const shell = started();
    this.#shell = shell;
    const gone = () => {
      if (this.#shell === shell) this.#startAgain();
    };
    if (shell === null) gone();
    shell?.once('exit', gone);
    shell?.once('error', gone);
    // Undefined, too, where no more files can be opened.
    shell?.stdin?.on('error', () => {});
    shell?.stdin?.write(`${this.#groups}\n`);
  }

  /** Without a shell there is no last guard; the rest is as good as ever, so it is not tried too often. */
  #startAgain(): void {
    this.#shell = null;
    const pauseMs = Math.max(0, this.#startedAtMs + minIntervalMs - performance.now());
    setTimeout(() => {
      if (!this.#isClosed) this.#start();
    }, pauseMs).unref();
  }
}

/** Null where there is no memory for it. */
function started(): ChildProcess | null {
  try {
    return spawn('/bin/sh', ['-c', script, 'petrel-reaper'], {
      detached: true,
      env: withoutSecrets(process.env),
      stdio: ['pipe', 'ignore', 'ignore'],
    });
  } catch {
    return null;
  }
}
