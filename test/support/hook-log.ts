/**
 * Records the actions of hooks in fault tests, to find out whether two nodes were ever active at the same
 * time. The hooks of all nodes are one script that appends to one file. It writes `started`, `ended`, and a
 * `beat` every 50 ms while any of the hook's processes is running. This includes the workload that a takeover
 * leaves running. A takeover also records which workloads are running at that time. Works on Linux only,
 * because it reads /proc.
 */

import { copyFile, mkdir, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { findProblems, type HookEvent, hookEventSchema, type hookPhases } from './hook-events.js';

export type HookPhase = (typeof hookPhases)[number];

export interface HookBehaviour {
  /** Milliseconds until the hook succeeds or fails. Default 0. */
  readonly takeMs?: number;
  /** Exit code of the hook. Default 0. */
  readonly exitCode?: number;
  /** The hook never ends by itself, and ignores SIGTERM. */
  readonly hang?: boolean;
  /** The workload of a takeover or a run ignores SIGTERM. */
  readonly stubborn?: boolean;
  /** The release leaves the workload running, so that Petrel must end it. */
  readonly leave?: boolean;
  /** The workload of a takeover looks like no usual one, and ignores SIGTERM. Needs python3. */
  readonly odd?: 'no main thread' | 'many states' | null;
}

const script = fileURLToPath(new URL('hook.pl', import.meta.url));
const oddWorkload = fileURLToPath(new URL('odd_workload.py', import.meta.url));

export class HookLog implements AsyncDisposable {
  readonly #dir: string;
  /** The part of the file that has been read. The file only grows, so polls read only what was appended. */
  #read: { readonly events: readonly HookEvent[]; readonly bytes: number } = { events: [], bytes: 0 };

  private constructor(dir: string) {
    this.#dir = dir;
  }

  static async create(): Promise<HookLog> {
    return HookLog.in(await mkdtemp(join(tmpdir(), 'petrel-hooks-')));
  }

  /** Creates a log in an existing, empty folder. */
  static async in(dir: string): Promise<HookLog> {
    await Promise.all([mkdir(join(dir, 'alive')), mkdir(join(dir, 'behaviour'))]);
    await writeFile(join(dir, 'events'), '');
    await writeFile(join(dir, 'owner'), String(process.pid));
    await copyFile(script, join(dir, 'hook'));
    await copyFile(oddWorkload, join(dir, 'odd_workload.py'));
    return new HookLog(dir);
  }

  /** Returns the program and arguments of the hook. The hook reads the node's name from PETREL_NODE. */
  command(phase: HookPhase): [string, ...string[]] {
    return [join(this.#dir, 'hook'), phase];
  }

  /** Returns the flags that give an agent all its hooks. */
  agentFlags(): string[] {
    const phases = ['prepare', 'takeover', 'release', 'fence'] as const;
    return phases.flatMap((phase) => [`--on-${phase}`, this.command(phase).join(' ')]);
  }

  /** Sets the behaviour of one node's hook from its next start on. */
  async behave(node: string, phase: HookPhase, behaviour: HookBehaviour): Promise<void> {
    const { takeMs = 0, exitCode = 0, hang = false, stubborn = false, leave = false, odd = null } = behaviour;
    const flags = `hang=${Number(hang)} stubborn=${Number(stubborn)} leave=${Number(leave)} odd=${odd === null ? 0 : odd === 'no main thread' ? 1 : 2}`;
    const text = `take_ms=${takeMs} exit_code=${exitCode} ${flags}\n`;
    const file = join(this.#dir, 'behaviour', `${node}.${phase}`);
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  }

  /** Returns all events in the order in which they happened. */
  async events(): Promise<readonly HookEvent[]> {
    const { events, bytes } = this.#read;
    const text = await textFrom(join(this.#dir, 'events'), bytes);
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    const lines = whole.split('\n').slice(0, -1);
    const more = z.array(hookEventSchema).parse(lines.map((line): unknown => JSON.parse(line)));
    const read = { events: [...events, ...more], bytes: bytes + Buffer.byteLength(whole) };
    // A concurrent call may already have read further.
    if (read.bytes > this.#read.bytes) this.#read = read;
    return read.events;
  }

  /** Returns the process ids of a node's hooks and workloads that are running now. */
  async pidsOf(node: string): Promise<number[]> {
    return (await this.living()).filter((one) => one.node === node).map(({ pid }) => pid);
  }

  /** Returns the processes of workloads and hooks that are running now, each with its node. */
  async living(): Promise<{ node: string; slot: number; token: string; pid: number }[]> {
    const pids = await readdir(join(this.#dir, 'alive'));
    const found = pids.map(async (pid) => {
      const [node = '', slot, token = '', started] = await words(join(this.#dir, 'alive', pid));
      const stat = (await words(`/proc/${pid}/stat`)).join(' ');
      const [state = 'X', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      // A process whose main thread has ended looks like a zombie, but has other threads.
      const isDead = state === 'X' || (state === 'Z' && !(Number(rest[16]) > 1));
      return rest[18] === started && !isDead ? { node, slot: Number(slot), token, pid: Number(pid) } : null;
    });
    return (await Promise.all(found)).filter((one) => one !== null);
  }

  /**
   * Throws if two nodes were ever active in one slot, or one node in two slots. The error describes what
   * happened.
   */
  async assertExclusive(): Promise<void> {
    const problems = findProblems(await this.events());
    if (problems.length > 0) throw new Error(`the hooks were not exclusive:\n${problems.join('\n')}`);
  }

  /** Ends every remaining hook process within a second, but keeps the files that the hooks wrote. */
  async end(): Promise<void> {
    await rm(join(this.#dir, 'owner'), { force: true });
  }

  /** Ends every remaining hook process, and removes all files. */
  async stop(): Promise<void> {
    await rm(this.#dir, { recursive: true, maxRetries: 10, retryDelay: 20 });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Returns the words of a file, or an empty list if the file no longer exists. */
async function words(file: string): Promise<string[]> {
  return (await readFile(file, 'latin1').catch(() => '')).trim().split(' ');
}

async function textFrom(file: string, byte: number): Promise<string> {
  await using handle = await open(file);
  const { size } = await handle.stat();
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - byte), 0, size - byte, byte);
  return buffer.toString('utf8', 0, bytesRead);
}
