/**
 * A group of agents inside the test's process. Each agent has its own session. A separate client observes the
 * group or interferes with it.
 */

import { Writable } from 'node:stream';
import pino from 'pino';
import { Agent, type AgentStatus } from '../../src/agent/agent.js';
import type { TokenStore } from '../../src/agent/leadership/token-memory.js';
import { ScorePublisher } from '../../src/agent/scores/score-publisher.js';
import { systemHost } from '../../src/agent/session/process-life.js';
import type { SessionMemory, SessionTicket } from '../../src/agent/session/session-memory.js';
import type { Sharing } from '../../src/agent/session/sharing.js';
import { type GroupConfig, groupConfigSchema } from '../../src/model/group-config.js';
import { type GroupPaths, groupPaths } from '../../src/model/paths.js';
import {
  type ClaimContent,
  claimSchema,
  type Elected,
  electedSchema,
  type HistoryRecord,
  historyRecordSchema,
} from '../../src/model/znodes.js';
import { type Clock, systemClock } from '../../src/ports/clock.js';
import { isStoreError, type Stat, type Store } from '../../src/ports/store.js';
import type { Workload } from '../../src/ports/workload.js';
import type { Measurements } from '../../src/scores/measurements.js';
import { ensureTree } from '../../src/tree/ensure-tree.js';
import { openStore, parseConnectionString, type StoreOptions } from '../../src/zookeeper/index.js';
import { builtInRules, type Rules } from '../../strategies/index.js';
import { keepLog } from './kept-logs.js';
import { RecordingWorkload } from './recording-workload.js';
import { uniqueRoot } from './unique-root.js';
import { until } from './until.js';

/**
 * The session timeout of the client that observes a group. It is so long that a busy machine does not break
 * the connection under a test's own reads.
 */
export const observerSessionMs = 60_000;

/** The number of the level `warn` in pino's lines. */
const warnLevel = 40;

export interface MemberOptions {
  readonly site?: string;
  readonly priority?: number;
  readonly tags?: Readonly<Record<string, string>>;
  /** Rules that the agent knows. Defaults to the built-in rules. */
  readonly rules?: Rules;
  readonly workload?: Workload;
  /** Connect string that the agent uses. Defaults to the connect string of the group. */
  readonly connect?: string;
  readonly sessionTimeoutMs?: number;
  readonly sessionMemory?: SessionMemory;
  readonly tokenStore?: TokenStore;
  readonly clock?: Clock;
  /** Defaults to the security of the group. */
  readonly security?: Security;
  /** The scores that the node reports. By default it reports none. */
  readonly measurements?: Measurements;
  /** By default, the agent has its session for itself. */
  readonly sharing?: Sharing;
  /** Wraps the agent's store, to make requests fail. */
  readonly wrap?: (store: Store) => Store;
}

/** Credentials of the agents and of the observing client, and the ACL of the znodes that they create. */
export type Security = Pick<StoreOptions, 'auth' | 'acl'>;

export class Group implements AsyncDisposable {
  readonly connectString: string;
  readonly root: string;
  readonly security: Security;
  readonly paths: GroupPaths;
  readonly members: Member[] = [];
  #store: Store;

  private constructor(connectString: string, root: string, security: Security = {}) {
    this.connectString = connectString;
    this.root = root;
    this.security = security;
    this.paths = groupPaths(root);
    this.#store = this.#connect();
  }

  /**
   * The store of a client that takes no part in the election. Opens a new session if the previous one was
   * lost.
   */
  get store(): Store {
    if (this.#store.state === 'LOST') this.#store = this.#connect();
    return this.#store;
  }

  /** Creates a group. Resolves once its znodes exist. */
  static async found(
    connectString: string,
    config: Partial<GroupConfig> | Record<string, unknown> = {},
    root = uniqueRoot('group'),
    security: Security = {},
  ): Promise<Group> {
    const group = new Group(connectString, root, security);
    await group.store.connected();
    await ensureTree(group.store, group.paths);
    await group.configure(config);
    return group;
  }

  /** Returns a group without creating its znodes: they are missing, or another client has created them. */
  static over(connectString: string, root: string, security: Security = {}): Group {
    return new Group(connectString, root, security);
  }

  start(node: string, options: MemberOptions = {}): Member {
    const member = new Member(this, node, options);
    this.members.push(member);
    return member;
  }

  /** Starts the agents one after the other, so that their seats follow this order. */
  async startInOrder(nodes: readonly string[], options: MemberOptions = {}): Promise<Member[]> {
    const members: Member[] = [];
    for (const node of nodes) {
      const member = this.start(node, options);
      await member.joined();
      members.push(member);
    }
    return members;
  }

  async configure(change: Partial<GroupConfig> | Record<string, unknown>): Promise<void> {
    const { data, stat } = await this.store.getData(this.paths.config);
    const before: Record<string, unknown> = JSON.parse(data.toString('utf8'));
    const config = groupConfigSchema.parse({ ...before, ...change });
    await this.store.set(this.paths.config, Buffer.from(JSON.stringify(config)), stat.version);
  }

  async config(): Promise<GroupConfig> {
    const { data } = await this.store.getData(this.paths.config);
    return groupConfigSchema.parse(JSON.parse(data.toString('utf8')));
  }

  async elected(): Promise<Elected & { readonly version: number }> {
    const { data, stat } = await this.store.getData(this.paths.elected);
    return { ...electedSchema.parse(JSON.parse(data.toString('utf8'))), version: stat.version };
  }

  async current(): Promise<(ClaimContent & { readonly stat: Stat }) | null> {
    try {
      const { data, stat } = await this.store.getData(this.paths.current);
      return { ...claimSchema.parse(JSON.parse(data.toString('utf8'))), stat };
    } catch (error) {
      if (isStoreError(error, 'NO_NODE')) return null;
      throw error;
    }
  }

  /** Requests a switchover to `node`, as the commands write it. */
  async switchover(node: string, force = false): Promise<void> {
    const { term } = await this.elected();
    const request = { to: { node }, replacesTerm: term, force };
    await this.configure({ switchover: { ...request, ...byHand('maintenance') } });
  }

  async seats(): Promise<string[]> {
    return (await this.store.getChildren(this.paths.election)).children;
  }

  /** Records of the history, oldest first. */
  async history(): Promise<HistoryRecord[]> {
    const { children } = await this.store.getChildren(this.paths.history);
    const reads = children
      .toSorted()
      .map(async (name) => (await this.store.getData(this.paths.historyRecord(name))).data.toString('utf8'));
    return (await Promise.all(reads)).map((text) => historyRecordSchema.parse(JSON.parse(text)));
  }

  /** Waits until `node` is READY according to both ZooKeeper and its agent. */
  async ready(node: string, timeoutMs = 20_000): Promise<ClaimContent & { readonly stat: Stat }> {
    return await until(
      async () => {
        const current = await this.current();
        const member = this.members.findLast((one) => one.node === node);
        const isReady = current?.node === node && current.status === 'READY';
        return isReady && member?.status.leads === true ? current : null;
      },
      { timeoutMs, describe: `${node} to be READY` },
    );
  }

  #connect(): Store {
    return connect(this.connectString, observerSessionMs, undefined, this.security);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => member.abandon()));
    await this.store.close();
  }
}

export class Member {
  readonly node: string;
  readonly agent: Agent;
  readonly workload: Workload;
  /** Every store that the agent opened, oldest first. */
  readonly stores: Store[] = [];
  /** Result of the agent's run. Null while the agent is running. */
  ended: { readonly error: unknown } | null = null;
  readonly run: Promise<void>;
  readonly #log: string[] = [];
  readonly #warnings: string[] = [];
  readonly #keep = keepLog(`members-${process.pid}`);

  constructor(group: Group, node: string, options: MemberOptions) {
    this.node = node;
    this.workload = options.workload ?? new RecordingWorkload();
    const log = pino({ level: 'debug' }, this.#sink());
    this.agent = new Agent({
      root: group.root,
      node,
      site: options.site ?? 'here',
      priority: options.priority ?? 100,
      tags: options.tags ?? {},
      rules: options.rules ?? builtInRules,
      version: 'test',
      workload: this.workload,
      workloadPlace: 'inside',
      clock: options.clock ?? systemClock,
      log,
      host: systemHost,
      sessionMemory: options.sessionMemory ?? null,
      tokenStore: options.tokenStore ?? null,
      sharing: options.sharing,
      openStore: (session) => {
        const {
          connect: address = group.connectString,
          sessionTimeoutMs,
          security = group.security,
        } = options;
        const store = connect(address, sessionTimeoutMs, session, security);
        this.stores.push(store);
        return options.wrap?.(store) ?? store;
      },
    });
    const { measurements, clock = systemClock } = options;
    const publisher =
      measurements === undefined
        ? null
        : new ScorePublisher({ agent: this.agent, node, root: group.root, measurements, clock, log });
    this.run = this.agent
      .run()
      .finally(() => publisher?.close())
      .then(
        () => {
          this.ended = { error: null };
        },
        (error: unknown) => {
          this.ended = { error };
        },
      );
  }

  get status(): AgentStatus {
    return this.agent.status;
  }

  get recorded(): RecordingWorkload {
    if (this.workload instanceof RecordingWorkload) return this.workload;
    throw new Error(`${this.node} has another kind of workload`);
  }

  get store(): Store {
    const store = this.stores.at(-1);
    if (store === undefined) throw new Error(`${this.node} has no session yet`);
    return store;
  }

  /** Logged messages, oldest first. */
  get log(): readonly string[] {
    return this.#log;
  }

  /** Logged warnings and errors, oldest first. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  async joined(): Promise<void> {
    await until(() => this.status.joined, { timeoutMs: 20_000, describe: `${this.node} to join` });
  }

  /** Ends the member's session at the ensemble, as if its timeout had passed. */
  async expire(connectString: string): Promise<void> {
    const { sessionId: id, sessionPassword: password } = this.store;
    await endSession(connectString, { id, password });
  }

  async stop(): Promise<void> {
    this.agent.stop();
    await this.run;
  }

  /** Stops the agent without waiting for a successor. */
  async abandon(): Promise<void> {
    this.agent.stop();
    this.agent.stop();
    await this.run;
  }

  #sink(): Writable {
    const show = process.env.PETREL_TEST_LOG !== undefined;
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        const line: { level?: number; msg?: string } = JSON.parse(chunk.toString('utf8'));
        this.#log.push(line.msg ?? '');
        if ((line.level ?? 0) >= warnLevel) this.#warnings.push(line.msg ?? '');
        this.#keep(chunk.toString('utf8').trimEnd());
        if (show) process.stderr.write(`${Math.round(performance.now())} ${this.node}: ${chunk}`);
        done();
      },
    });
  }
}

/** Returns the part of an operator's change that says who made it, why, and when. */
export function byHand(reason: string): { by: string; reason: string; at: string } {
  return { by: 'a test', reason, at: new Date().toISOString() };
}

/** Deletes a znode and everything below it, even if other clients change that subtree in the meantime. */
export async function deleteTree(store: Store, path: string): Promise<void> {
  for (;;) {
    try {
      const { children } = await store.getChildren(path);
      await Promise.all(children.map((name) => deleteTree(store, `${path}/${name}`)));
      return await store.delete(path, 'any');
    } catch (error) {
      if (isStoreError(error, 'NO_NODE')) return;
      if (!isStoreError(error, 'NOT_EMPTY')) throw error;
    }
  }
}

export async function endSession(connectString: string, session: SessionTicket): Promise<void> {
  const attached = connect(connectString, 6000, session);
  await attached.connected();
  await attached.close();
}

export function connect(
  connectString: string,
  sessionTimeoutMs = 6000,
  session?: SessionTicket,
  security: Security = {},
): Store {
  return openStore({
    servers: parseConnectionString(connectString),
    sessionTimeoutMs,
    ...security,
    ...(session === undefined ? {} : { session }),
  });
}
