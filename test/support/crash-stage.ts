/**
 * Groups in which to rehearse crash points. They have real agents and guardians, an embedded server, and
 * hooks that leave a workload running.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DevAgents } from '../../src/dev/agents.js';
import type { CrashPoint } from '../../src/dev/crash-points.js';
import type { Stage } from '../../src/dev/group.js';
import { DevHooks, hookPhases } from '../../src/dev/hooks.js';
import { type Outcome, Rehearsal } from '../../src/dev/rehearsal.js';
import type { GroupConfig } from '../../src/model/group-config.js';
import { groupPaths } from '../../src/model/paths.js';
import { historyRecordSchema, type TransitionRecord } from '../../src/model/znodes.js';
import type { Store } from '../../src/ports/store.js';
import { startDevelopmentServer } from '../../src/testing.js';
import { ensureTree } from '../../src/tree/ensure-tree.js';
import { openStore, parseConnectionString } from '../../src/zookeeper/index.js';
import { HookLog } from './hook-log.js';
import { oncePerRun } from './once-per-run.js';

const sessionTimeoutMs = 6_000;

const config: Partial<GroupConfig> = {
  // All but `grace` are longer than the session timeout, because some rows end when a session expires.
  timeouts: { claim: '12s', prepare: '10s', takeover: '12s', release: '12s', fence: '12s', grace: '300ms' },
  backoff: { base: '200ms', max: '400ms' },
};

const paths = groupPaths('/crash');

export class CrashStage implements AsyncDisposable {
  readonly log: HookLog;
  /** The log of the current rehearsal, or of the last one if none is running. */
  readonly said: { readonly text: string; readonly atMs: number | null }[] = [];
  readonly #store: Store;
  readonly #rehearsal: Rehearsal;
  readonly #dispose: () => Promise<void>;

  private constructor(log: HookLog, stage: Stage, dispose: () => Promise<void>) {
    this.log = log;
    this.#store = stage.store;
    this.#dispose = dispose;
    this.#rehearsal = new Rehearsal(stage, {
      config,
      patienceMs: 60_000,
      say: (text, atMs) => this.said.push({ text, atMs }),
    });
  }

  static async create(): Promise<CrashStage> {
    const main = await oncePerRun('build');
    const server = await startDevelopmentServer({ tickTimeMs: 100, maxSessionTimeoutMs: 10_000 });
    const dir = await mkdtemp(join(tmpdir(), 'petrel-crash-'));
    const store = openStore({
      servers: parseConnectionString(server.connectString),
      sessionTimeoutMs: 4_000,
    });
    const log = await HookLog.create();
    const hooks = new DevHooks(join(dir, 'hooks'));
    const flags = [
      ...['--zookeeper', server.connectString, '--root', paths.root, '--log-level', 'fatal'],
      ...['--listen', 'off'],
      ...['--session-timeout', `${sessionTimeoutMs}ms`, '--state-dir', join(dir, 'state')],
      ...hookPhases.flatMap((phase) => [`--on-${phase}`, hooks.command(phase, log.command(phase).join(' '))]),
    ];
    const sites = { a1: 'a', a2: 'a', b1: 'b', b2: 'b' };
    const agents = new DevAgents({ petrel: [process.execPath, main], flags, sites, output: 'ignore' });
    await store.connected();
    await ensureTree(store, paths);
    return new CrashStage(log, { server, store, paths, agents, hooks }, async () => {
      await agents[Symbol.asyncDispose]();
      hooks[Symbol.dispose]();
      await store.close({ timeoutMs: 500 });
      await server.close();
      await log.stop();
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    });
  }

  async rehearse(point: CrashPoint): Promise<Outcome> {
    this.said.length = 0;
    return await this.#rehearsal.rehearse(point);
  }

  /** Returns the index in `said` of the last `text` after the kill, or -1 if there is none. */
  saidSinceKill(text: string): number {
    return this.said.findLastIndex((one) => one.text === text && one.atMs !== null);
  }

  /** Returns the transitions in the history, oldest first. */
  async transitions(): Promise<TransitionRecord[]> {
    const { children } = await this.#store.getChildren(paths.history);
    const reads = children.toSorted().map((name) => this.#store.getData(paths.historyRecord(name)));
    const records = (await Promise.all(reads)).map(({ data }) =>
      historyRecordSchema.parse(JSON.parse(data.toString('utf8'))),
    );
    return records.filter((record) => record.kind === 'transition');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#rehearsal[Symbol.dispose]();
    await this.#dispose();
  }
}

/** A limited number of stages, for rehearsals that run in parallel. */
export class CrashStages implements AsyncDisposable {
  readonly #limit: number;
  readonly #idle: CrashStage[] = [];
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Waits for a free stage. If `isNew` is true, nothing has been rehearsed on it before. */
  async take({ isNew }: { readonly isNew: boolean }): Promise<CrashStage> {
    while (this.#taken === this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#taken += 1;
    const used = this.#idle.pop();
    if (used !== undefined && !isNew) return used;
    try {
      await used?.[Symbol.asyncDispose]();
      return await CrashStage.create();
    } catch (error) {
      this.#free();
      throw error;
    }
  }

  async giveBack(stage: CrashStage, isInOrder: boolean): Promise<void> {
    if (isInOrder) this.#idle.push(stage);
    else await stage[Symbol.asyncDispose]();
    this.#free();
  }

  #free(): void {
    this.#taken -= 1;
    this.#waiting.shift()?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((stage) => stage[Symbol.asyncDispose]()));
  }
}
