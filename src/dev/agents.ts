/**
 * The agents of a development group: processes of their own, so that they can be killed, stopped and started like
 * real ones. They leave when this process is gone.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { PetrelError } from '../errors.js';

export interface DevAgentsOptions {
  /** Starts Petrel: program and first arguments. */
  readonly petrel: readonly string[];
  /** Arguments of every agent, hooks included. */
  readonly flags: readonly string[];
  /** Site of each node. */
  readonly sites: Readonly<Record<string, string>>;
  /** Where their logs go. Default: where this process's go. */
  readonly output?: 'inherit' | 'ignore';
}

export class DevAgents implements AsyncDisposable {
  readonly #options: DevAgentsOptions;
  readonly #children = new Map<string, ChildProcess>();

  constructor(options: DevAgentsOptions) {
    this.#options = options;
  }

  get nodes(): string[] {
    return Object.keys(this.#options.sites);
  }

  isRunning(node: string): boolean {
    const child = this.#children.get(node);
    return child !== undefined && !hasEnded(child);
  }

  /** Starts those that do not run. Returns their names. */
  startAll(): string[] {
    const missing = this.nodes.filter((node) => !this.isRunning(node));
    for (const node of missing) this.start(node);
    return missing;
  }

  start(node: string): void {
    const { petrel, flags, sites, output = 'inherit' } = this.#options;
    const [program = process.execPath, ...first] = petrel;
    const stdio: StdioOptions = ['ignore', output, output, 'ipc'];
    // Its own group: ^C reaches this process, which then stops the agents one by one.
    const options = { detached: true, stdio };
    const args = [...first, 'agent', '--node-id', node, '--site', sites[node] ?? '', ...flags];
    this.#children.set(node, spawn(program, args, options));
  }

  pid(node: string): number {
    const pid = this.#children.get(node)?.pid;
    if (pid === undefined) throw new PetrelError('FAILED', `the agent of ${node} does not run`);
    return pid;
  }

  signal(node: string, signal: NodeJS.Signals): void {
    this.#children.get(node)?.kill(signal);
  }

  /**
   * SIGKILL, to both at once where both are meant. Returns their pids when neither runs any more. Throws PetrelError
   * FAILED when the keeper cannot be found: it is looked for in /proc.
   */
  async kill(node: string, what: 'agent' | 'keeper' | 'both'): Promise<number[]> {
    const agent = this.pid(node);
    const keeper = what === 'agent' ? null : keeperOf(agent);
    if (what !== 'agent' && keeper === null) {
      throw new PetrelError('FAILED', `the keeper of ${node} cannot be found in /proc: is this Linux?`);
    }
    const pids = [...(what === 'keeper' ? [] : [agent]), ...(keeper === null ? [] : [keeper])];
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    // An agent that lives reaps its keeper, and has heard of its end then.
    const isThere = what === 'keeper' ? exists : isRunning;
    while (pids.some(isThere) || (what !== 'keeper' && this.isRunning(node))) await sleep(1);
    return pids;
  }

  async stop(node: string): Promise<void> {
    const child = this.#children.get(node);
    if (child === undefined || hasEnded(child)) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    child.kill('SIGCONT');
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => this.stop(node)));
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function exists(pid: number): boolean {
  return statOf(pid) !== null;
}

export function isRunning(pid: number): boolean {
  const stat = statOf(pid);
  return stat !== null && stat.state !== 'Z' && stat.state !== 'X';
}

function keeperOf(agent: number): number | null {
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return pids.find((pid) => statOf(pid)?.parent === agent && commandOf(pid).includes('/keeper.')) ?? null;
}

function statOf(pid: number): { state: string; parent: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command's name, in parentheses, may hold anything.
    const [state = '', parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state, parent: Number(parent) };
  } catch {
    return null;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
