/**
 * Runs the nodes of a development group as separate processes, so that they can be killed, stopped and
 * started like real nodes. Each node consists of a guardian and the agent that the guardian starts. The nodes
 * leave the group when this process exits.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { PetrelError, present } from '../errors.js';
import { hasEnded, parseStat } from '../hooks/process-state.js';
import { withoutSecrets } from '../hooks/secret-variables.js';

export interface DevAgentsOptions {
  /** The program that runs Petrel, and its first arguments. */
  readonly petrel: readonly string[];
  /** Arguments of every agent, including the hooks. */
  readonly flags: readonly string[];
  /** Returns further arguments for the agent of one node. */
  readonly flagsOf?: (node: string) => readonly string[];
  /** Site of each node. */
  readonly sites: Readonly<Record<string, string>>;
  /** Destination of the agents' logs. By default, this is the output of this process. */
  readonly output?: 'inherit' | 'ignore';
}

export type NodePart = 'agent' | 'guardian' | 'both';

export class DevAgents implements AsyncDisposable {
  readonly #options: DevAgentsOptions;
  readonly #guardians = new Map<string, ChildProcess>();
  readonly #ended = new EventEmitter<{ end: [node: string] }>();

  constructor(options: DevAgentsOptions) {
    this.#options = options;
  }

  get nodes(): string[] {
    return Object.keys(this.#options.sites);
  }

  siteOf(node: string): string {
    return present(this.#options.sites[node], `the site of ${node}`);
  }

  /** Calls `listener` when the guardian of a node has ended. Returns a function that removes the listener. */
  onEnd(listener: (node: string) => void): () => void {
    this.#ended.on('end', listener);
    return () => this.#ended.off('end', listener);
  }

  /** Whether the node's guardian is running. If it is, the node has an agent or will have one soon. */
  isRunning(node: string): boolean {
    const guardian = this.#guardians.get(node);
    return guardian !== undefined && !isOver(guardian);
  }

  /** Starts the nodes that are not running. Returns their names. */
  startAll(): string[] {
    const missing = this.nodes.filter((node) => !this.isRunning(node));
    for (const node of missing) this.start(node);
    return missing;
  }

  start(node: string): void {
    const { petrel, flags, flagsOf = () => [], output = 'inherit' } = this.#options;
    const [program = process.execPath, ...first] = petrel;
    const stdio: StdioOptions = ['ignore', output, output, 'ipc'];
    // Detach the guardian, so that ^C reaches only this process, which then stops the nodes. Remove secrets
    // from the environment, because the nodes have their own token and use a ZooKeeper server that needs no
    // passwords.
    const options = { detached: true, stdio, env: withoutSecrets(process.env) };
    const own = ['--node-id', node, '--site', this.siteOf(node), ...flagsOf(node)];
    const args = [...first, 'agent', ...own, ...flags];
    const guardian = spawn(program, args, options);
    guardian.once('exit', () => this.#ended.emit('end', node));
    this.#guardians.set(node, guardian);
  }

  /** Restarts each node whose guardian is delaying the start of the next agent. */
  async hurry(): Promise<void> {
    const waiting = this.nodes.filter((node) => this.isRunning(node) && this.#agentOf(node) === null);
    await Promise.all(waiting.map((node) => this.stop(node)));
    for (const node of waiting) this.start(node);
  }

  /**
   * Returns the process id of the node's guardian. Throws PetrelError FAILED if the guardian is not running.
   */
  guardianPid(node: string): number {
    const pid = this.isRunning(node) ? this.#guardians.get(node)?.pid : undefined;
    if (pid === undefined) throw new PetrelError('FAILED', `the guardian of ${node} is not running`);
    return pid;
  }

  /**
   * Returns the process id of the node's agent, which is found through /proc. Throws PetrelError FAILED if
   * there is none.
   */
  agentPid(node: string): number {
    const pid = this.#agentOf(node);
    if (pid === null) {
      throw new PetrelError('FAILED', `the agent of ${node} cannot be found in /proc: is this Linux?`);
    }
    return pid;
  }

  /** Requests that the node leave the group. */
  term(node: string): void {
    this.#guardians.get(node)?.kill('SIGTERM');
  }

  /**
   * Sends SIGKILL to the agent, to the guardian, or to both in immediate succession. Returns the process ids
   * of the killed processes after they have exited. Throws PetrelError FAILED if one of them cannot be found.
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

/**
 * Returns the child processes of a process. In Node.js, the main thread starts all child processes, so it is
 * enough to read the children of that thread.
 */
function childrenOf(pid: number): number[] {
  return textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

function argumentsOf(pid: number): string[] {
  return textOf(`/proc/${pid}/cmdline`).split('\0');
}

/** Returns the content of a file in /proc, or an empty string if the process does not exist. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
