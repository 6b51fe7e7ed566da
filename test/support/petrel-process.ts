/** One process of the command line, with its output, its log, its signals and its exit. */
import type { ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Exit, exitOf, hasExited } from './bound-process.js';
import { keepLog } from './kept-logs.js';
import { childrenOf, commandOf, isAlive } from './process-list.js';
import { type UntilOptions, until } from './until.js';

/** Schema of one JSON line of a log. */
const logLineSchema = z.looseObject({ level: z.string(), time: z.string(), msg: z.string().default('') });
export type LogLine = z.output<typeof logLineSchema>;

const outputPatienceMs = 500;

export class PetrelProcess implements AsyncDisposable {
  readonly stateDir: string;
  /** Resolves when the process has ended and its output is complete. */
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #ownDir: string | null;
  readonly #isGuardian: boolean;
  readonly #log: LogLine[] = [];
  #stdout = '';
  #stderr = '';

  constructor(child: ChildProcess, stateDir: string, ownDir: string | null) {
    this.#child = child;
    this.#isGuardian = child.spawnargs.some((arg) => arg === 'agent' || arg === 'run');
    this.stateDir = stateDir;
    this.#ownDir = ownDir;
    const keep = keepLog(`process-${child.pid}`);
    const outputs = [
      eachLine(child.stdout, (line) => {
        keep(line);
        this.#stdout += `${line}\n`;
      }),
      eachLine(child.stderr, (line) => {
        keep(line);
        this.#readLog(line);
      }),
    ];
    this.exited = exitOf(child).then((exit) => afterOutput(exit, outputs));
    this.exited.catch(() => undefined);
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the process could not be started');
    return this.#child.pid;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** The log lines on the process's stderr, oldest first. */
  get log(): readonly LogLine[] {
    return this.#log;
  }

  get running(): boolean {
    return !hasExited(this.#child);
  }

  /**
   * Waits for a log line, and returns it immediately if it has already been written. Ignores the first
   * `after` lines. Fails early if the process ends without writing such a line.
   */
  async logged(
    wanted: RegExp | ((line: LogLine) => boolean),
    options: UntilOptions & { readonly after?: number } = {},
  ): Promise<LogLine> {
    const matches = wanted instanceof RegExp ? (line: LogLine) => wanted.test(line.msg) : wanted;
    const search = () => this.#log.slice(options.after).find(matches);
    const find = () => search() ?? (this.running ? null : ('ended' as const));
    const found = await until(find, { describe: `a log line that matches ${wanted}`, ...options });
    if (found !== 'ended') return found;
    await this.exited;
    const last = search();
    if (last === undefined)
      throw new Error(`ended without a log line that matches ${wanted}:\n${this.#stderr}`);
    return last;
  }

  /** The agent process, if this process is its guardian. Null if there is none. */
  get agentPid(): number | null {
    return childrenOf(this.pid).find((pid) => commandOf(pid).includes('main.js')) ?? null;
  }

  /** Kills the process and the agent that it guards, as nearly at the same time as possible. */
  async kill9(): Promise<void> {
    const agent = this.agentPid;
    this.signal('SIGKILL');
    this.#child.kill('SIGKILL');
    await this.exited;
    if (agent !== null) await until(() => !isAlive(agent), { describe: 'the killed agent to be gone' });
  }

  /** Freezes the agent, but neither its guardian nor the guardian's other children. */
  pause(): void {
    this.signal('SIGSTOP');
  }

  /** Resumes the agent and its guardian. */
  resume(): void {
    this.signal('SIGCONT');
    this.#child.kill('SIGCONT');
  }

  /**
   * Sends a signal to the agent, or to this process if it is no guardian. Does nothing if there is no agent.
   */
  signal(name: NodeJS.Signals): void {
    const pid = this.#isGuardian ? this.agentPid : this.pid;
    if (pid !== null) process.kill(pid, name);
  }

  /** Requests that the node leave the group and end. */
  term(): void {
    this.#child.kill('SIGTERM');
  }

  /**
   * Kills the process if it is still running. Removes its state directory if that was created for this
   * process only.
   */
  async stop(): Promise<void> {
    const agent = this.agentPid;
    if (agent !== null) process.kill(agent, 'SIGKILL');
    this.#child.kill('SIGKILL');
    await exitOf(this.#child);
    if (this.#ownDir !== null) await rm(this.#ownDir, { recursive: true, force: true, maxRetries: 5 });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #readLog(line: string): void {
    this.#stderr += `${line}\n`;
    const parsed = logLineSchema.safeParse(parseJson(line));
    if (parsed.success) this.#log.push(parsed.data);
  }
}

/**
 * Waits for the end of the output, for a limited time: processes that this one started may keep the output
 * open.
 */
async function afterOutput(exit: Exit, outputs: readonly Promise<void>[]): Promise<Exit> {
  await Promise.race([Promise.all(outputs), sleep(outputPatienceMs, undefined, { ref: false })]);
  return exit;
}

async function eachLine(stream: Readable | null, take: (line: string) => void): Promise<void> {
  if (stream === null) return;
  for await (const line of createInterface({ input: stream })) take(line);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
