/**
 * A group of agents in separate processes, over real servers, for tests that harm either. After each test,
 * the cluster undoes the faults and restarts the agents that ended. A READY leader must then exist, so every
 * test starts from a healthy group. The hooks of two nodes must never have been active at the same time.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { type GroupConfig, groupConfigSchema } from '../../src/model/group-config.js';
import { type PetrelProcess, startProcess } from './agents.js';
import { uniqueRoot } from './ensemble.js';
import { GroupView, type Leader } from './group-view.js';
import type { HookEvent } from './hook-events.js';
import { type HookBehaviour, HookLog, type HookPhase } from './hook-log.js';
import { ofNode, started } from './known.js';
import { Links } from './links.js';
import { childrenOf, commandOf } from './process-list.js';
import type { Reached } from './servers.js';
import { type UntilOptions, until } from './until.js';

export interface ClusterOptions {
  readonly servers: Reached;
  /** Maps each node to its site. */
  readonly sites: Readonly<Record<string, string>>;
  /**
   * Session timeout that the agents request. The default of 5 s is so long that a starved machine ends no
   * lease.
   */
  readonly sessionTimeoutMs?: number;
  /** Hooks of the agents. */
  readonly hooks?: readonly HookPhase[];
  /** Returns the shell command line of a hook. Default: the hook log's command itself. */
  readonly command?: (phase: HookPhase, command: string) => string;
  /**
   * False if the test deletes the claim and the decision behind Petrel's back, so that two leaderships may
   * overlap.
   */
  readonly exclusive?: boolean;
  /** The differences between the group's configuration and `testConfig`. */
  readonly config?: Partial<GroupConfig>;
  /** Returns further environment variables for the agent of a node. */
  readonly env?: (node: string) => Readonly<Record<string, string>>;
}

const usualSessionTimeoutMs = 5_000;
/** A long timeout, so that a starved machine does not end the session through which the test observes. */
const viewSessionTimeoutMs = 20_000;

/** A configuration with short times, in which leadership does not move unless a test requests it. */
export const testConfig: GroupConfig = groupConfigSchema.parse({
  failback: 'manual',
  timeouts: { claim: '4s', prepare: '2s', takeover: '3s', release: '3s', fence: '2s', grace: '300ms' },
  backoff: { base: '1s', max: '5s' },
});

/** Timeout that is less than the 30 s after which an agent re-reads its state without a notification. */
const settleTimeoutMs = 25_000;

async function grantedMs(links: Links, root: string, sessionTimeoutMs: number): Promise<number> {
  await using like = new GroupView(links.connectString, root, sessionTimeoutMs);
  return (await until(() => like.store())).negotiatedTimeoutMs;
}

/** Creates a cluster for the tests of this `describe`. */
export function useCluster(options: ClusterOptions): Cluster {
  const cluster = new Cluster(options);
  beforeAll(() => cluster.start());
  afterEach(async ({ task }) => {
    // Reports before it heals anything, because healing changes the state that the test saw.
    const hasFailed = task.result?.state === 'fail';
    if (hasFailed) await cluster.report();
    try {
      await cluster.settle();
      if (options.exclusive !== false) await cluster.hooks.assertExclusive();
    } catch (error) {
      if (!hasFailed) await cluster.report();
      throw error;
    }
  });
  afterAll(() => cluster.stop());
  return cluster;
}

interface Parts {
  readonly view: GroupView;
  readonly viewLinks: Links;
  readonly hooks: HookLog;
  readonly stateDir: string;
}

export interface ReadyWanted extends UntilOptions {
  readonly node?: string;
  readonly not?: string;
  /** Accepts only leaderships with a greater fencing token than this one. */
  readonly after?: bigint;
}

export class Cluster {
  readonly root = uniqueRoot('faults');
  readonly #options: ClusterOptions;
  readonly #agents = new Map<string, PetrelProcess>();
  readonly #links = new Map<string, Links>();
  #parts: Parts | undefined;

  constructor(options: ClusterOptions) {
    this.#options = options;
  }

  get view(): GroupView {
    return this.#started.view;
  }

  /**
   * The links between `view` and the servers. If the ensemble's leader is cut off, it still answers even a
   * sync until its sync limit ends. So tests keep the view away from such a server.
   */
  get viewLinks(): Links {
    return this.#started.viewLinks;
  }

  get hooks(): HookLog {
    return this.#started.hooks;
  }

  get servers(): Reached {
    return this.#options.servers;
  }

  get nodes(): string[] {
    return Object.keys(this.#options.sites);
  }

  /** The session timeout that the ensemble grants the agents. Valid once `start` has resolved. */
  sessionTimeoutMs = 0;

  get #started(): Parts {
    return started(this.#parts, 'the cluster');
  }

  async start(): Promise<void> {
    const { servers, sessionTimeoutMs = usualSessionTimeoutMs, config = {} } = this.#options;
    const stateDir = await mkdtemp(join(tmpdir(), 'petrel-cluster-'));
    const viewLinks = await Links.to(servers.all);
    const view = new GroupView(viewLinks.connectString, this.root, viewSessionTimeoutMs);
    this.#parts = { view, viewLinks, hooks: await HookLog.create(), stateDir };
    const store = await until(() => view.store());
    this.sessionTimeoutMs = await grantedMs(viewLinks, this.root, sessionTimeoutMs);
    await store.create(this.root, Buffer.alloc(0), 'persistent');
    const content = Buffer.from(JSON.stringify({ ...testConfig, ...config }));
    await store.create(view.paths.config, content, 'persistent');
    for (const node of this.nodes) this.#links.set(node, await Links.to(servers.all));
    await Promise.all(this.nodes.map((node) => this.run(node)));
    await this.settle();
  }

  /** Starts the agent of a node. A restarted node keeps its state directory. */
  async run(node: string): Promise<PetrelProcess> {
    const { sites, sessionTimeoutMs = usualSessionTimeoutMs } = this.#options;
    const stateDir = join(this.#started.stateDir, node);
    await mkdir(stateDir, { recursive: true });
    const agent = await startProcess(['agent', ...this.#hookFlags()], {
      PETREL_ZOOKEEPER: this.links(node).connectString,
      PETREL_ROOT: this.root,
      PETREL_NODE_ID: node,
      PETREL_SITE: sites[node] ?? '',
      PETREL_SESSION_TIMEOUT: `${sessionTimeoutMs}ms`,
      PETREL_LOG_LEVEL: 'debug',
      PETREL_STATE_DIR: stateDir,
      ...this.#options.env?.(node),
    });
    this.#agents.set(node, agent);
    return agent;
  }

  /** Sets the behaviour of a node's hooks until the end of the test. */
  async behave(node: string, behaviour: Readonly<Partial<Record<HookPhase, HookBehaviour>>>): Promise<void> {
    for (const phase of this.#hookPhases) await this.hooks.behave(node, phase, behaviour[phase] ?? {});
  }

  agent(node: string): PetrelProcess {
    return ofNode(this.#agents, node);
  }

  links(node: string): Links {
    return ofNode(this.#links, node);
  }

  stateDir(node: string): string {
    return join(this.#started.stateDir, node);
  }

  others(...nodes: string[]): string[] {
    return this.nodes.filter((node) => !nodes.includes(node));
  }

  /** Waits for a leader that is READY and whose workload is running. */
  ready(wanted: ReadyWanted = {}): Promise<Leader> {
    const { node, not, after = -1n, ...options } = wanted;
    const text = [node ?? 'any', not && `not ${not}`, after > 0n && `after token ${after}`]
      .filter(Boolean)
      .join(', ');
    return until(
      async () => {
        const leader = await this.#ready();
        const isWanted =
          leader.token > after && leader.node !== not && (node === undefined || leader.node === node);
        if (!isWanted) throw new Error(`found ${textOf(leader)}`);
        return leader;
      },
      { timeoutMs: settleTimeoutMs, describe: `a READY leader of ${this.root}, ${text}`, ...options },
    );
  }

  /**
   * Returns the leader if it is READY and its workload is running. Otherwise throws an error that describes
   * the actual state. A claim alone proves nothing: a leader that lost its connection releases leadership
   * without deleting its claim.
   */
  async #ready(): Promise<Leader> {
    const leader = await this.view.leader();
    if (leader === null) throw new Error('found no leader');
    if (leader.status !== 'READY') throw new Error(`found ${textOf(leader)}`);
    if (!(await this.#isActive(leader))) {
      const living = (await this.hooks.living()).map(
        (one) => `${one.node} (token ${one.token}, pid ${one.pid})`,
      );
      throw new Error(
        `found ${textOf(leader)}, without a workload that lives; living: ${living.join(', ') || 'none'}`,
      );
    }
    return leader;
  }

  async #isActive({ node, token }: Leader): Promise<boolean> {
    return (await this.hooks.living()).some((one) => one.node === node && one.token === String(token));
  }

  /** Waits for a hook event that has a greater fencing token than `after`. */
  hooked(node: string, phase: HookPhase, event: HookEvent['event'], after = -1n): Promise<HookEvent> {
    const isIt = (one: HookEvent) =>
      one.node === node && one.phase === phase && one.event === event && BigInt(one.token || '0') > after;
    return until(async () => (await this.hooks.events()).find(isIt), {
      timeoutMs: settleTimeoutMs,
      describe: `${phase} of ${node} to have ${event}`,
    });
  }

  /** Waits until no process of a leadership is running, because the leadership was released or killed. */
  async ended(leader: Leader): Promise<void> {
    await until(async () => !(await this.#isActive(leader)), {
      timeoutMs: settleTimeoutMs,
      describe: `the workload of ${leader.node} to be gone`,
    });
  }

  /**
   * Returns the pid of a node's agent. `agent(node).pid` is the pid of its guardian, which runs the hooks.
   */
  agentPid(node: string): Promise<number> {
    return until(() => this.agent(node).agentPid, { describe: `the agent of ${node}` });
  }

  /** Kills the agent of a node, but not its guardian. */
  async killAgent(node: string): Promise<void> {
    process.kill(await this.agentPid(node), 'SIGKILL');
  }

  /** Returns the process group of the hook that a node is running. */
  async hookGroup(node: string): Promise<number> {
    const { pid, agentPid } = this.agent(node);
    // The agent's own command line also names the hooks, so the agent must be excluded.
    const isHook = (child: number) => child !== agentPid && commandOf(child).includes('/hook');
    return until(() => childrenOf(pid).find(isHook), { describe: `a hook of ${node}` });
  }

  /**
   * Repairs the damage of a test. Resolves once every agent is running and connected, and one of them is
   * READY.
   */
  async settle(): Promise<void> {
    for (const links of this.#links.values()) await links.heal();
    for (const node of this.nodes) {
      await this.behave(node, {});
      const agent = this.#agents.get(node);
      if (agent?.running) agent.resume();
      else await this.run(node);
    }
    const config = { ...testConfig, ...this.#options.config };
    await until(() =>
      this.view.changeConfig((current) => void Object.assign(current, config)).then(() => true),
    );
    const all = [...this.nodes].sort();
    await until(async () => expect((await this.view.seated()).toSorted()).toEqual(all) ?? true, {
      timeoutMs: settleTimeoutMs,
      describe: 'all nodes to have a seat',
    });
    await until(() => this.#isQuiet(), { timeoutMs: settleTimeoutMs, describe: 'the group to be quiet' });
  }

  /** Whether the leader is READY and is the elected node, and no node is in backoff. */
  async #isQuiet(): Promise<boolean> {
    const [leader, elected] = [await this.#ready(), await this.view.elected()];
    const inBackoff = elected.failures.some(({ until: end }) => end !== null && Date.parse(end) > Date.now());
    return leader.node === elected.node && leader.term === elected.term && !inBackoff;
  }

  /** Writes everything that happened to a file, and prints the end of that file. */
  async report(): Promise<void> {
    const logs = [...this.#agents].flatMap(([node, { log }]) =>
      log
        .filter(({ stream }) => stream === undefined)
        .map(({ time, level, msg }) => ({ at: time, text: `${time} ${node} ${level} ${msg.slice(0, 200)}` })),
    );
    const events = (await this.hooks.events()).filter(({ event }) => event !== 'beat');
    const hooks = events.map(({ at, node, phase, event, term, token }) => {
      const time = new Date(at * 1000).toISOString();
      return { at: time, text: `${time} ${node}   hook ${phase} ${event}, term ${term}, token ${token}` };
    });
    const lines = [...logs, ...hooks].sort((a, b) => (a.at < b.at ? -1 : 1)).map(({ text }) => text);
    const znodes = await this.view.dump().catch(String);
    const file = join(tmpdir(), `petrel${this.root.replaceAll('/', '-')}.log`);
    await writeFile(file, `${[...lines, znodes].join('\n')}\n`);
    const end = [...lines.slice(-40), znodes].join('\n');
    process.stdout.write(`\n--- ${this.root}, the end of ${file}\n${end}\n---\n`);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.stop()));
    await Promise.all([...this.#links.values()].map((links) => links[Symbol.asyncDispose]()));
    if (this.#parts === undefined) return;
    await this.view.close();
    await this.hooks.stop();
    await rm(this.#parts.stateDir, { recursive: true, force: true, maxRetries: 5 });
  }

  get #hookPhases(): readonly HookPhase[] {
    return this.#options.hooks ?? ['takeover', 'release'];
  }

  #hookFlags(): string[] {
    const { command = (_phase, line) => line } = this.#options;
    return this.#hookPhases.flatMap((phase) => [
      `--on-${phase}`,
      command(phase, this.hooks.command(phase).join(' ')),
    ]);
  }
}

function textOf({ node, status, term, token }: Leader): string {
  return `${node} ${status} in term ${term}, token ${token}`;
}
