/**
 * The last guard: a shell that waits at the end of a pipe for the guardian's death, however that comes, and then kills
 * the process groups that the guardian ran. With it, a workload dies with its guardian also when the agent, which
 * would end it otherwise, is killed at the same instant.
 *
 * Not covered: all three killed at once (then whoever killed them has to kill the workload, as a container's end and
 * systemd's `KillMode=control-group` and `mixed` do), a process group started within the last moments of the guardian,
 * and systems without /bin/sh.
 */
import { type ChildProcess, spawn } from 'node:child_process';

/** Each line is all groups that live now. Signals to a whole service must not take it away. */
const script = `trap '' TERM INT HUP QUIT
while read -r line; do groups=$line; done
for group in $groups; do kill -s KILL -- "-$group"; done`;

export class Sentinel {
  #shell: ChildProcess | null = null;
  #groups = '';
  #isClosed = false;

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
    const shell = spawn('/bin/sh', ['-c', script, 'petrel-sentinel'], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#shell = shell;
    const gone = () => {
      if (this.#shell !== shell) return;
      this.#shell = null;
      if (!this.#isClosed) this.#start();
    };
    shell.once('exit', gone);
    // Without a shell there is no last guard; the rest is as good as ever.
    shell.once('error', () => {});
    shell.stdin.on('error', () => {});
    shell.stdin.write(`${this.#groups}\n`);
  }
}
