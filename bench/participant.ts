/** One process of a contender, with its output and the ways to end it. */
import type { ChildProcess } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitOf, hasExited, spawnBound } from '../test/support/bound-process.js';
import { childrenOf, commandOf, isAlive } from '../test/support/process-list.js';
import { monotonicMs } from './clocks.js';
import { type Contender, type Seat, type Workshop, workloadFile } from './contenders.js';
import type { Hub } from './hub.js';

const patienceMs = 15_000;

export class Participant {
  readonly name: string;
  /** Monotonic time at which the process was started. */
  readonly startedAtMs: number;
  readonly #child: ChildProcess;
  readonly #contender: Contender;
  readonly #workshop: Workshop;

  private constructor(seat: Seat, contender: Contender, workshop: Workshop, child: ChildProcess, at: number) {
    this.name = seat.name;
    this.startedAtMs = at;
    this.#child = child;
    this.#contender = contender;
    this.#workshop = workshop;
  }

  static async start(contender: Contender, seat: Seat, workshop: Workshop, hub: Hub): Promise<Participant> {
    const { program, args, env = {} } = await contender.command(seat, workshop);
    const log = await open(join(workshop.directory, `${seat.name}.log`), 'w');
    try {
      const atMs = monotonicMs();
      const child = spawnBound(program, args, {
        stdio: ['pipe', 'pipe', log.fd],
        env: { PATH: process.env.PATH, ...env },
      });
      if (child.stdout === null) throw new Error('a process without an output');
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (contender.leadsBy === undefined) hub.take(line);
        else if (contender.leadsBy(line)) hub.arrived('leads', seat.name);
      });
      // Writing to a killed process fails, because it no longer reads its input.
      child.stdin?.on('error', () => undefined);
      return new Participant(seat, contender, workshop, child, atMs);
    } finally {
      await log.close();
    }
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(`${this.name} could not be started`);
    return this.#child.pid;
  }

  /** Process ids of all processes that the node needs, starting with the process that was started first. */
  get pids(): readonly number[] {
    const { agent } = this;
    return agent === null ? [this.pid] : [this.pid, agent];
  }

  /** Resolves when the started process has ended. */
  get ended(): Promise<unknown> {
    return exitOf(this.#child);
  }

  say(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Requests a graceful exit. */
  leave(): void {
    this.#child.kill('SIGTERM');
  }

  /** Kills only the process that has the session with the servers. */
  killElector(): void {
    process.kill(this.agent ?? this.pid, 'SIGKILL');
  }

  /** Kills all processes of the node. The kills are as simultaneous as one process can make them. */
  async killHost(): Promise<void> {
    const workload = await this.#workload();
    const all = [this.pid, ...childrenOf(this.pid), ...workload].filter(isAlive);
    for (const pid of all) process.kill(pid, 'SIGKILL');
  }

  /** Requests an exit, and kills the process if that takes too long. */
  async end(): Promise<void> {
    if (!hasExited(this.#child)) {
      this.leave();
      await Promise.race([exitOf(this.#child), sleep(patienceMs, undefined, { ref: false })]);
      if (!hasExited(this.#child)) await this.killHost();
    }
    await exitOf(this.#child);
  }

  /** Returns the last part of the process's log. */
  async log(): Promise<string> {
    const text = await readFile(join(this.#workshop.directory, `${this.name}.log`), 'utf8').catch(() => '');
    return text.slice(-2_000);
  }

  get agent(): number | null {
    if (!this.#contender.isGuarded) return null;
    return childrenOf(this.pid).find((pid) => commandOf(pid).includes('main.js')) ?? null;
  }

  async #workload(): Promise<number[]> {
    const text = await readFile(workloadFile(this.#workshop, this.name), 'utf8').catch(() => '');
    return text === '' ? [] : [Number(text)];
  }
}
