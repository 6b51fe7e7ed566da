/**
 * One node as separate processes: a guardian and the agent that it starts. Both write their logs to the same
 * file.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdir, open } from 'node:fs/promises';
import { type Exit, exitOf, hasExited, spawnBound } from '../support/bound-process.js';
import { childrenOf, commandOf, isAlive, signalIfAlive } from '../support/process-list.js';
import { until } from '../support/until.js';

export interface AgentPlace {
  /** Path of the command line's main program. */
  readonly main: string;
  readonly hookFlags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Directory that the node's incarnations share. */
  readonly stateDir: string;
  readonly logFile: string;
}

const leavePatienceMs = 20_000;

export class AgentProcess {
  /** Resolves when the guardian exits. */
  readonly exited: Promise<Exit>;
  readonly #guardian: ChildProcess;
  /** Whether the nemesis is the cause of the guardian's exit. */
  #doomed = false;
  /** The last process id that `agent` returned. Null if there has been none. */
  #lastAgent: number | null = null;

  private constructor(guardian: ChildProcess) {
    this.#guardian = guardian;
    this.exited = exitOf(guardian);
  }

  static async start({ main, hookFlags, env, stateDir, logFile }: AgentPlace): Promise<AgentProcess> {
    await mkdir(stateDir, { recursive: true });
    const output = await open(logFile, 'a');
    try {
      const guardian = spawnBound(process.execPath, [main, 'agent', ...hookFlags], {
        stdio: ['ignore', output.fd, output.fd],
        env: {
          PATH: process.env.PATH,
          HOME: stateDir,
          PETREL_STATE_DIR: stateDir,
          PETREL_LISTEN: 'off',
          ...env,
        },
      });
      return new AgentProcess(guardian);
    } finally {
      await output.close();
    }
  }

  get guardian(): number {
    if (this.#guardian.pid === undefined) throw new Error('the guardian could not be started');
    return this.#guardian.pid;
  }

  /** Process id of the running agent. Null if there is none, or if the guardian has exited. */
  get agent(): number | null {
    const agent = this.#child('main.js');
    if (agent !== null) this.#lastAgent = agent;
    return agent;
  }

  /** Process id of the guardian's reaper. Null if there is none. */
  get reaper(): number | null {
    return this.#child('petrel-reaper');
  }

  /** Whether the guardian is running. */
  get running(): boolean {
    return !hasExited(this.#guardian);
  }

  get doomed(): boolean {
    return this.#doomed;
  }

  /** Records that the nemesis is about to cause the guardian's exit. */
  doom(): void {
    this.#doomed = true;
  }

  /** Kills guardian and agent, as close to simultaneously as possible. Resolves when both have exited. */
  async kill9(): Promise<void> {
    this.#doomed = true;
    const agent = this.agent;
    this.#guardian.kill('SIGKILL');
    if (agent !== null) signalIfAlive(agent, 'SIGKILL');
    await this.gone();
  }

  term(): void {
    this.#doomed = true;
    this.#guardian.kill('SIGTERM');
  }

  /** Resolves when both the guardian and its last agent have exited. */
  async gone(): Promise<void> {
    await this.exited;
    const agent = this.#lastAgent;
    if (agent === null) return;
    const describe = 'the agent whose guardian has died to leave';
    await until(() => !isAlive(agent), { timeoutMs: leavePatienceMs, describe });
  }

  #child(name: string): number | null {
    if (!this.running) return null;
    const isIt = (pid: number) =>
      isAlive(pid) &&
      commandOf(pid)
        .split('\0')
        .some((word) => word.endsWith(name));
    return childrenOf(this.guardian).find(isIt) ?? null;
  }
}
