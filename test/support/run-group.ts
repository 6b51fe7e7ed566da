/** A group of `petrel run` processes whose commands record what happens to them. */
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { type PetrelProcess, startProcess } from './agents.js';
import { testConfig } from './cluster.js';
import { uniqueRoot } from './ensemble.js';
import { GroupView } from './group-view.js';
import { until } from './until.js';

/** An entry that a command recorded. */
export interface Note {
  readonly atMs: number;
  readonly node: string;
  readonly token: bigint;
  readonly pid: number;
  readonly word: string;
}

/** Shell script that runs until it receives SIGTERM. */
export const service = 'trap "say stopping; exit 4" TERM; while :; do sleep 0.1; done';

const say = 'say() { echo "$(date +%s%3N) $PETREL_NODE $PETREL_FENCING_TOKEN $$ $1" >>"$NOTES"; }';

/**
 * Returns the script with the function `say`. It records `begins` after the trap that the script starts with,
 * because a test may stop the command as soon as it reads that word.
 */
function noting(script: string): string {
  const [trap = ''] = /^trap "[^"]*" TERM; /.exec(script) ?? [];
  return `${say}; ${trap}say begins; ${script.slice(trap.length)}`;
}

/**
 * Returns a getter for a group that is created for each test of the file. The group's processes end with the
 * test. If the test fails, their output is printed.
 */
export function useRunGroup(zookeeper: () => string | Promise<string>): () => RunGroup {
  let current: RunGroup | undefined;
  beforeEach(async () => {
    current = await RunGroup.create(await zookeeper());
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await current?.report();
    await current?.[Symbol.asyncDispose]();
  });
  return () => {
    if (current === undefined) throw new Error('only in a test');
    return current;
  };
}

export class RunGroup implements AsyncDisposable {
  readonly sessionTimeoutMs = 9_000;
  readonly root = uniqueRoot('run');
  readonly view: GroupView;
  readonly #zookeeper: string;
  readonly #directory: string;
  readonly #processes: PetrelProcess[] = [];

  private constructor(zookeeper: string, directory: string) {
    this.#zookeeper = zookeeper;
    this.#directory = directory;
    this.view = new GroupView(zookeeper, this.root, this.sessionTimeoutMs);
  }

  static async create(zookeeper: string): Promise<RunGroup> {
    const group = new RunGroup(zookeeper, await mkdtemp(join(tmpdir(), 'petrel-run-')));
    await appendFile(group.notesFile, '');
    const store = await until(() => group.view.store());
    await store.create(group.root, Buffer.alloc(0), 'persistent');
    await store.create(group.view.paths.config, Buffer.from(JSON.stringify(testConfig)), 'persistent');
    return group;
  }

  /** Path of the file that the commands write to. Commands find it in `$NOTES`. */
  get notesFile(): string {
    return join(this.#directory, 'notes');
  }

  get stateDir(): string {
    return join(this.#directory, 'state');
  }

  /**
   * Runs a shell script as the command of a node. The script can call `say WORD`. The word `begins` is
   * recorded after the script's leading trap, if it has one, and before the rest.
   */
  async run(
    node: string,
    script: string,
    args: readonly string[] = [],
    zookeeper = this.#zookeeper,
  ): Promise<PetrelProcess> {
    const command = [...args, '--', '/bin/sh', '-c', noting(script)];
    const started = await this.start(command, { PETREL_NODE_ID: node, PETREL_ZOOKEEPER: zookeeper });
    await started.logged(/^joined/);
    return started;
  }

  /** Starts `petrel run ARGS`. */
  async start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<PetrelProcess> {
    const started = await startProcess(['run', ...args], {
      PETREL_ZOOKEEPER: this.#zookeeper,
      PETREL_ROOT: this.root,
      PETREL_SESSION_TIMEOUT: `${this.sessionTimeoutMs}ms`,
      PETREL_LOG_LEVEL: 'debug',
      NOTES: this.notesFile,
      ...env,
    });
    this.#processes.push(started);
    return started;
  }

  /** Returns the entries of all nodes, oldest first. */
  async notes(): Promise<Note[]> {
    const lines = (await readFile(this.notesFile, 'utf8')).split('\n').filter(Boolean);
    return lines.map((line) => {
      const [at = '', node = '', token = '', pid = '', word = ''] = line.split(' ');
      return { atMs: Number(at), node, token: BigInt(token), pid: Number(pid), word };
    });
  }

  /** Waits until a node's command has recorded `word` the given number of times. */
  noted(node: string, word: string, times = 1): Promise<Note> {
    const find = async () =>
      (await this.notes()).filter((note) => note.node === node && note.word === word)[times - 1];
    return until(find, { describe: `${node} to write down "${word}"`, timeoutMs: 30_000 });
  }

  async report(): Promise<void> {
    const dump = await this.view.dump().catch(String);
    const outputs = this.#processes.map(({ pid, stderr }) => `process ${pid}:\n${stderr}`);
    const texts = [await readFile(this.notesFile, 'utf8'), dump, ...outputs];
    process.stderr.write(`${texts.join('\n')}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.map((each) => each.stop()));
    await this.view.close();
    // The command may still be writing while it is being stopped, which happens when its petrel process was
    // killed.
    await rm(this.#directory, { recursive: true, force: true, maxRetries: 10 });
  }
}
