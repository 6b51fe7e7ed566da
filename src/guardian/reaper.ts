/**
 * The reaper is a shell at the other end of a pipe from the guardian. When the guardian dies, for whatever
 * reason, the pipe closes. The reaper then kills the process groups that the guardian ran. If only the
 * guardian is killed, the agent can also end the workload. If both are killed at the same instant, only the
 * reaper can.
 *
 * Not covered: the simultaneous death of all three. Whatever kills them must then also kill the workload. The
 * end of a container does this, and so does systemd with `KillMode=control-group` or `mixed`. Also not
 * covered: process groups that were started in the guardian's last moments, and systems without /bin/sh.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { withoutSecrets } from '../hooks/secret-variables.js';

/**
 * Each input line lists all groups that are currently alive. The shell ignores signals, so a signal that is
 * sent to a whole service does not end the shell.
 */
const script = `trap '' TERM INT HUP QUIT USR1 USR2 PIPE
while read -r line; do groups=$line; done
for group in $groups; do kill -s KILL -- "-$group"; done`;

/** Minimum time between starts of the shell. */
const minIntervalMs = 1_000;

export class Reaper {
  #shell: ChildProcess | null = null;
  #groups = '';
  #isClosed = false;
  #startedAtMs = 0;

  constructor() {
    this.#start();
  }

  /** Sets the groups that are currently alive. */
  watchOver(pgids: readonly number[]): void {
    this.#groups = pgids.join(' ');
    this.#shell?.stdin?.write(`${this.#groups}\n`);
  }

  /** Ends the shell, because no group is alive any more. */
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
    // stdin is undefined if this process cannot open any more files.
    shell?.stdin?.on('error', () => {});
    shell?.stdin?.write(`${this.#groups}\n`);
  }

  /** Starts the shell again after a pause. During the pause, the workload has other guards. */
  #startAgain(): void {
    this.#shell = null;
    const pauseMs = Math.max(0, this.#startedAtMs + minIntervalMs - performance.now());
    setTimeout(() => {
      if (!this.#isClosed) this.#start();
    }, pauseMs).unref();
  }
}

/**
 * Starts the shell. Returns null if this fails immediately, for example because there is not enough memory.
 */
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
