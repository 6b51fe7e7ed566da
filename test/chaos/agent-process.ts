/** One agent in a process of its own, whose log goes to a file. */
import type { ChildProcess } from 'node:child_process';
import { mkdir, open } from 'node:fs/promises';
import { type Exit, exitOf, hasExited, spawnBound } from '../support/bound-process.js';
import { childOf } from '../support/process-list.js';

export interface AgentPlace {
  /** The command line's main program. */
  readonly main: string;
  readonly hookFlags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Kept from one life to the next. */
  readonly stateDir: string;
  readonly logFile: string;
}

export class AgentProcess {
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  /** Whether its end is the nemesis's doing. */
  #doomed = false;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.exited = exitOf(child);
  }

  static async start({ main, hookFlags, env, stateDir, logFile }: AgentPlace): Promise<AgentProcess> {
    await mkdir(stateDir, { recursive: true });
    const output = await open(logFile, 'a');
    try {
      const child = spawnBound(process.execPath, ['--enable-source-maps', main, 'agent', ...hookFlags], {
        stdio: ['ignore', output.fd, output.fd],
        env: { PATH: process.env.PATH, HOME: stateDir, PETREL_STATE_DIR: stateDir, ...env },
      });
      return new AgentProcess(child);
    } finally {
      await output.close();
    }
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the agent could not be started');
    return this.#child.pid;
  }

  get running(): boolean {
    return !hasExited(this.#child);
  }

  get doomed(): boolean {
    return this.#doomed;
  }

  /** Null when there is none now. */
  keeper(): Promise<number | null> {
    return Promise.resolve(childOf(this.pid, 'keeper'));
  }

  async kill9(): Promise<void> {
    this.#doomed = true;
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  term(): void {
    this.#doomed = true;
    this.#child.kill('SIGTERM');
  }

  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }
}
