/**
 * The nodes of a development group: processes of their own, so that they can be killed, stopped and started
 * like real ones. Each is a guardian and the agent that it starts. They leave when this process is gone.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { PetrelError, present } from '../errors.js';
import { hasEnded, parseStat } from '../hooks/process-state.js';
import { withoutSecrets } from '../hooks/secret-variables.js';

export interface DevAgentsOptions {
  /** Starts Petrel: program and first arguments. */
  readonly petrel: readonly string[];
  /** Arguments of every agent, hooks included. */
  readonly flags: readonly string[];
  /** Further arguments of one node's agent. */
  readonly flagsOf?: (node: string) => readonly string[];
  /** Site of each node. */
  readonly sites: Readonly<Record<string, string>>;
  /** Where their logs go. Default: where this process's go. */
  readonly output?: 'inherit' | 'ignore';
}

export type NodePart = 'agent' | 'guardian' | 'both';

export class DevAgents implements AsyncDisposable {
  readonly #options: DevAgentsOptions;
  readonly #guardians = new Map<string, ChildProcess>();

  constructor(options: DevAgentsOptions) {
    this.#options = options;
  }

  get nodes(): string[] {
    return Object.keys(this.#options.sites);
  }

  /** Its guardian runs: so it has an agent, or will have one again. */
  isRunning(node: string): boolean {
    const guardian = this.#guardians.get(node);
    return guardian !== undefined && !isOver(guardian);
  }

  /** Starts those that do not run. Returns their names. */
  startAll(): string[] {
    const missing = this.nodes.filter((node) => !this.isRunning(node));
    for (const node of missing) this.start(node);
    return missing;
  }

  start(node: string): void {
    const { petrel, flags, flagsOf = () => [], sites, output = 'inherit' } = this.#options;
    const [program = process.execPath, ...first] = petrel;
    const stdio: StdioOptions = ['ignore', output, output, 'ipc'];
    // Its own group: ^C reaches this process, which then stops the nodes one by one.
    // They have a token of their own, and a ZooKeeper without passwords.
    const options = { detached: true, stdio, env: withoutSecrets(process.env) };
    const own = ['--node-id', node, '--site', present(sites[node], `the site of ${node}`), ...flagsOf(node)];
    const args = [...first, 'agent', ...own, ...flags];
    this.#guardians.set(node, spawn(program, args, options));
  }

  /** Starts those anew whose guardian waits before it starts the next agent. */
  async hurry(): Promise<void> {
    const waiting = this.nodes.filter((node) => this.isRunning(node) && this.#agentOf(node) === null);
    await Promise.all(waiting.map((node) => this.stop(node)));
    for (const node of waiting) this.start(node);
  }

  /** Throws PetrelError FAILED when it does not run. */
  guardianPid(node: string): number {
    const pid = this.isRunning(node) ? this.#guardians.get(node)?.pid : undefined;
    if (pid === undefined) throw new PetrelError('FAILED', `the guardian of ${node} does not run`);
    return pid;
  }

  /** Throws PetrelError FAILED when it cannot be found: it is looked for in /proc. */
  agentPid(node: string): number {
    const pid = this.#agentOf(node);
    if (pid === null) {
      throw new PetrelError('FAILED', `the agent of ${node} cannot be found in /proc: is this Linux?`);
    }
    return pid;
  }

  /** Asks the node to leave. */
  term(node: string): void {
    this.#guardians.get(node)?.kill('SIGTERM');
  }

  /**
   * SIGKILL, to both at once where both are meant. Returns their pids when they do not run any more. Throws
   * PetrelError FAILED when one of them cannot be found.
   */
  async kill(node: string, part: NodePart): Promise<number[]> {
    const pids = [
      ...(part === 'agent' ? [] : [this.guardianPid(node)]),
      ...(part === 'guardian' ? [] : [this.agentPid(node)]),
    ];
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    while (pids.some(isRunning) || (part !== 'agent' && this.isRunning(node))) await sleep(1);
    return pids;
  }

  async stop(node: string): Promise<void> {
    const guardian = this.#guardians.get(node);
    if (guardian === undefined || isOver(guardian)) return;
    const ended = once(guardian, 'exit');
    guardian.kill('SIGTERM');
    guardian.kill('SIGCONT');
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => this.stop(node)));
  }

  #agentOf(node: string): number | null {
    const guardian = this.guardianPid(node);
    const isAgent = (pid: number) => isRunning(pid) && argumentsOf(pid).includes('--node-id');
    return childrenOf(guardian).find(isAgent) ?? null;
  }
}

function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

export function isRunning(pid: number): boolean {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat !== '' && !hasEnded(parseStat(stat));
}

/** Of its main thread, as all of Node.js are. */
function childrenOf(pid: number): number[] {
  return textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

function argumentsOf(pid: number): string[] {
  return textOf(`/proc/${pid}/cmdline`).split('\0');
}

/** Empty when there is no such process. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
