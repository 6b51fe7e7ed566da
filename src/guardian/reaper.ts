/**
 * The reaper: a shell that waits at the end of a pipe for the guardian to die in any way. It then kills the
 * process groups that the guardian ran. If only the guardian is killed, the agent ends the workload. If both
 * are killed at the same instant, only the reaper can.
 *
 * Not covered: all three are killed at the same time. Whatever kills them must then also kill the workload,
 * as the end of a container does, and systemd with `KillMode=control-group` or `mixed`. Also not covered: a
 * process group that was started in the guardian's last moments, and systems without /bin/sh.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { withoutSecrets } from '../hooks/secret-variables.js';

/**
 * Each input line lists all groups that are currently alive. Signals to a whole service must not end the
 * shell.
 */
const script = `trap '' TERM INT HUP QUIT USR1 USR2 PIPE
while read -r line; do groups=$line; done
for group in $groups; do kill -s KILL -- "-$group"; done`;

/** Shortest time between two starts of the shell. */
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
    // stdin is also undefined if the process cannot open any more files.
    shell?.stdin?.on('error', () => {});
    shell?.stdin?.write(`${this.#groups}\n`);
  }

  /** Starts the shell again. Waits between starts. In the meantime, the workload has other guards. */
  #startAgain(): void {
    this.#shell = null;
    const pauseMs = Math.max(0, this.#startedAtMs + minIntervalMs - performance.now());
    setTimeout(() => {
      if (!this.#isClosed) this.#start();
    }, pauseMs).unref();
  }
}

/** Starts the shell. Returns null if there is not enough memory. */
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
