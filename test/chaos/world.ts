/**
 * The nemesis's environment. It has a real ZooKeeper with three servers and the network between them. It also
 * has the agents with their hooks, and a client that requests the leader. Agents are separate processes. Each
 * agent has its own connections to the servers.
 *
 * Guardians and servers exit with this process, however it ends. Agents and workloads exit within seconds
 * after that.
 */
import { execFile, spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { durationMs } from '../../src/model/duration.js';
import { type GroupConfig, groupConfigSchema } from '../../src/model/group-config.js';
import { agentDeath } from '../support/agent-death.js';
import { GroupView } from '../support/group-view.js';
import { HookLog } from '../support/hook-log.js';
import { ofNode, started } from '../support/known.js';
import { Links } from '../support/links.js';
import { freePorts } from '../support/ports.js';
import { signalIfAlive } from '../support/process-list.js';
import { uniqueRoot } from '../support/unique-root.js';
import { until } from '../support/until.js';
import { type JavaEnsemble, startOpenJavaEnsemble } from '../support/zookeeper/java.js';
import type { TestServer } from '../support/zookeeper/server.js';
import { AgentProcess } from './agent-process.js';
import { Client } from './client.js';
import { type Journal, nowMs } from './journal.js';
import type { Change, Run } from './records.js';
import { type Scale, sitesOf, slotsOf } from './scale.js';
import type { ServerTimes } from './servers.js';
import { readTransactions } from './transaction-log.js';

const quietTimeoutMs = 60_000;
const commandTimeoutMs = 20_000;
const leavePatienceMs = 10_000;

/**
 * Returns the configuration of a group whose leadership moves only because of faults and requests in the
 * plan.
 */
function configOf({ leaders }: Scale): GroupConfig {
  return groupConfigSchema.parse({
    leaders,
    failback: 'manual',
    timeouts: { claim: '5s', prepare: '2s', takeover: '4s', release: '3s', fence: '2s', grace: '300ms' },
    backoff: { base: '2s', max: '10s' },
  });
}

interface Parts {
  readonly java: JavaEnsemble;
  readonly view: GroupView;
  readonly hooks: HookLog;
  readonly client: Client;
  readonly links: ReadonlyMap<string, Links>;
  /** Ports of the nodes' HTTP interfaces. */
  readonly ports: ReadonlyMap<string, number>;
}

export class World {
  readonly nodes: readonly string[];
  /** Slots that the group has at the start of the run. */
  readonly slots: readonly number[];
  readonly root = uniqueRoot('chaos');
  readonly #scale: Scale;
  readonly #serverTimes: readonly ServerTimes[];
  readonly #sites: Readonly<Record<string, string>>;
  readonly #baseConfig: GroupConfig;
  readonly #journal: Journal;
  readonly #main: string;
  readonly #agents = new Map<string, AgentProcess>();
  readonly #startedAtMs = nowMs();
  readonly #frozen = new Set<() => void>();
  /** Number of agents that the nemesis has killed without their guardians, by node. */
  readonly #expectedDeaths = new Map<string, number>();
  #parts: Parts | undefined;
  #ending = false;

  /** Creates the environment. `main` is the path of the command line's main program. */
  constructor(main: string, journal: Journal, scale: Scale, serverTimes: readonly ServerTimes[]) {
    this.#scale = scale;
    this.#serverTimes = serverTimes;
    this.#sites = sitesOf(scale.agents);
    this.#baseConfig = configOf(scale);
    this.nodes = Object.keys(this.#sites);
    this.slots = slotsOf(scale);
    this.#main = main;
    this.#journal = journal;
  }

  async start(): Promise<void> {
    // With these flags, a server that returns receives every transaction that it missed. Its log then
    // contains all of them.
    const jvmFlags = ['-Dzookeeper.commitLogCount=1000000', '-Dzookeeper.preAllocSize=256'];
    const options = { jvmFlags, extraConfig: ['enforceQuota=true'] };
    const java = await startOpenJavaEnsemble(this.#serverTimes.length, options, this.#serverTimes);
    const { servers, connectString } = java.ensemble;
    const view = new GroupView(connectString, this.root, this.#scale.sessionTimeoutMs);
    const links = new Map<string, Links>();
    for (const node of this.nodes) links.set(node, await Links.to(servers));
    const hooks = await HookLog.in(this.#journal.path('hooks'));
    const addresses = servers.map((server) => server.connectString);
    const client = new Client(addresses, this.root, this.slots, this.#journal);
    const free = await freePorts(this.nodes.length);
    const ports = new Map(this.nodes.map((node, index) => [node, free[index] ?? 0]));
    this.#parts = { java, view, links, hooks, client, ports };
    const store = await until(() => view.store());
    await store.create(this.root, Buffer.alloc(0), 'persistent');
    await store.create(view.paths.config, Buffer.from(JSON.stringify(this.#baseConfig)), 'persistent');
    await Promise.all(this.nodes.map((node) => this.run(node)));
    await this.quiet();
  }

  get view(): GroupView {
    return this.#all.view;
  }

  get hooks(): HookLog {
    return this.#all.hooks;
  }

  get client(): Client {
    return this.#all.client;
  }

  get servers(): readonly TestServer[] {
    return this.#all.java.ensemble.servers;
  }

  /** Links of the network between the servers. */
  get peers(): JavaEnsemble['links'] {
    return this.#all.java.links;
  }

  siteOf(node: string): string {
    return this.#sites[node] ?? '';
  }

  /** Returns the nodes that lead no slot. */
  standbys(): string[] {
    const leading = this.client.leading();
    return this.nodes.filter((node) => !leading.includes(node));
  }

  agent(node: string): AgentProcess {
    return ofNode(this.#agents, node);
  }

  links(node: string): Links {
    return ofNode(this.#all.links, node);
  }

  httpPort(node: string): number {
    return ofNode(this.#all.ports, node);
  }

  /** Starts a node. Waits first until an earlier incarnation of the node has exited. */
  async run(node: string): Promise<void> {
    await this.#agents.get(node)?.gone();
    const agent = await AgentProcess.start({
      main: this.#main,
      hookFlags: [
        ...(['takeover', 'release'] as const).flatMap((phase) => {
          return [`--on-${phase}`, this.hooks.command(phase).join(' ')];
        }),
        ...['--health-check', `test ! -e ${this.#sickness(node)}`, '--health-check-interval', '2s'],
      ],
      env: {
        PETREL_ZOOKEEPER: this.links(node).connectString,
        PETREL_ROOT: this.root,
        PETREL_NODE_ID: node,
        PETREL_SITE: this.siteOf(node),
        PETREL_SESSION_TIMEOUT: `${this.#scale.sessionTimeoutMs}ms`,
        PETREL_LISTEN: `127.0.0.1:${this.httpPort(node)}`,
        PETREL_LOG_LEVEL: 'debug',
      },
      stateDir: this.#journal.path(`state/${node}`),
      logFile: this.#journal.path(`agents/${node}.log`),
    });
    this.#agents.set(node, agent);
    void agent.exited.then(({ code, signal }) => {
      if (agent.doomed || this.#ending) return;
      const what = `the guardian of ${node} ended by itself: ${signal ?? `exit code ${code}`}`;
      this.#journal.nemesis({ event: 'problem', what });
    });
  }

  /**
   * Freezes a process, and returns a function that thaws it. If the nemesis's own process is killed before
   * the thaw, a helper process thaws the frozen process.
   */
  freeze(pid: number): () => void {
    const script = `while [ -d /proc/${process.pid} ]; do sleep 1; done; kill -CONT ${pid}`;
    const guard = spawn('sh', ['-c', script], { detached: true, stdio: 'ignore' });
    signalIfAlive(pid, 'SIGSTOP');
    const thaw = () => {
      signalIfAlive(pid, 'SIGCONT');
      guard.kill('SIGKILL');
      this.#frozen.delete(thaw);
    };
    this.#frozen.add(thaw);
    return thaw;
  }

  /** Sets the result of a node's health check. */
  async setHealth(node: string, healthy: boolean): Promise<void> {
    const file = this.#sickness(node);
    await (healthy ? rm(file, { force: true }) : writeFile(file, ''));
  }

  /** Returns the path of a file that exists only while the node is unhealthy. */
  #sickness(node: string): string {
    return this.#journal.path(`state/${node}.sick`);
  }

  /** Runs `petrel ARGS` as an operator does. Resolves with a text that describes how the command ended. */
  petrel(args: readonly string[]): Promise<string> {
    const env = {
      PATH: process.env.PATH,
      PETREL_ZOOKEEPER: this.#all.java.ensemble.connectString,
      PETREL_ROOT: this.root,
    };
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        [this.#main, ...args],
        { env, timeout: commandTimeoutMs, killSignal: 'SIGKILL' },
        (error, _stdout, stderr) => {
          resolve(error === null ? 'done' : `failed (${error.code ?? error.signal}): ${stderr.trim()}`);
        },
      );
    });
  }

  /** Restores the group's initial configuration. */
  async restoreConfig(): Promise<void> {
    const base = this.#baseConfig;
    const restored = () => this.view.changeConfig((config) => void Object.assign(config, base));
    await until(() => restored().then(() => true), { timeoutMs: 30_000, describe: 'the configuration back' });
  }

  /** Restores all processes, connections and hooks, and the configuration. */
  async heal(): Promise<void> {
    for (const links of this.#all.links.values()) await links.heal();
    await this.peers.heal();
    for (const node of this.nodes) {
      for (const phase of ['takeover', 'release'] as const) await this.hooks.behave(node, phase, {});
      await this.setHealth(node, true);
      await this.#revive(node);
    }
    await this.restoreConfig();
  }

  /**
   * Announces that the nemesis is about to kill a node's agent. The guardian will report the exit of that
   * agent.
   */
  expectDeath(node: string): void {
    this.#expectedDeaths.set(node, (this.#expectedDeaths.get(node) ?? 0) + 1);
  }

  /**
   * Starts a node that has exited. If a guardian is waiting before it starts the next agent, the node is
   * restarted without that wait.
   */
  async #revive(node: string): Promise<void> {
    const agent = this.agent(node);
    if (agent.running && agent.agent === null) {
      agent.term();
      await Promise.race([agent.exited, sleep(leavePatienceMs)]);
    }
    if (!agent.running) await this.run(node);
  }

  /** Waits until every node has a seat, and until each slot is led by its elected node. */
  async quiet(): Promise<void> {
    await until(() => this.#isQuiet(), { timeoutMs: quietTimeoutMs, intervalMs: 100, describe: 'order' });
  }

  async #isQuiet(): Promise<true> {
    const seated = await this.view.seated();
    const missing = this.nodes.filter((node) => !seated.includes(node));
    if (missing.length > 0 || seated.length !== this.nodes.length)
      throw new Error(`seated ${seated}; missing ${missing}`);
    for (const slot of this.slots) await this.#isLed(slot);
    return true;
  }

  async #isLed(slot: number): Promise<void> {
    const [leader, elected] = [await this.view.leader(slot), await this.view.elected(slot)];
    const active = (await this.hooks.living()).some(({ token }) => token === String(leader?.token));
    const led = leader?.status === 'READY' && leader.term === elected.term && leader.node === elected.node;
    if (led && active) return;
    const who = leader === null ? 'nobody' : `${leader.node} ${leader.status} (term ${leader.term})`;
    const how = active ? 'at work' : 'not at work';
    throw new Error(`${who} leads slot ${slot}, ${how}; elected ${elected.node} (term ${elected.term})`);
  }

  /** Ends all processes and completes the journal. */
  async stop(seed: number): Promise<void> {
    this.#ending = true;
    const endedAtMs = nowMs();
    const parts = this.#parts;
    for (const thaw of this.#frozen) thaw();
    await parts?.client.stop();
    const changes = parts === undefined ? [] : await this.#changes(parts).catch(() => []);
    await this.#endAgents(parts?.hooks);
    await this.#reportDeaths();
    await parts?.view.close().catch(() => undefined);
    await Promise.all([...(parts?.links.values() ?? [])].map((links) => links[Symbol.asyncDispose]()));
    await parts?.java.ensemble.stop();
    await this.#journal.end(this.#facts(seed, endedAtMs), changes);
  }

  /** Kills the guardians and agents, and waits for the workloads, which end with their agents. */
  async #endAgents(hooks: HookLog | undefined): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.kill9()));
    await hooks?.end();
    const gone = async () => (await (hooks?.living() ?? [])).length === 0;
    await until(gone, { timeoutMs: leavePatienceMs, describe: 'workloads to end' }).catch(() => undefined);
  }

  /**
   * Reports agents that died although the nemesis had not killed them. The guardians' logs show all deaths.
   */
  async #reportDeaths(): Promise<void> {
    for (const node of this.nodes) {
      const log = await readFile(this.#journal.path(`agents/${node}.log`), 'utf8').catch(() => '');
      const deaths = log.match(agentDeath) ?? [];
      const expected = this.#expectedDeaths.get(node) ?? 0;
      if (deaths.length <= expected) continue;
      const what = `${expected} agents of ${node} were killed, and ${deaths.length} died: ${deaths.join('; ')}`;
      this.#journal.nemesis({ event: 'problem', what });
    }
  }

  async #changes({ java }: Parts): Promise<Change[]> {
    // Some servers may not have logged the last commits yet.
    await sleep(this.#longestTickMs);
    const offsetMs = Date.now() - nowMs();
    return (await readTransactions(java.dataDirs)).flatMap(({ zxid, session, epochMs, steps }) => {
      return steps
        .filter((step) => step.op === 'close' || step.path.startsWith(`${this.root}/`))
        .map((step) => ({
          zxid: String(zxid),
          atMs: epochMs - offsetMs,
          session: String(session),
          op: step.op,
          path: step.op === 'close' ? '' : step.path.slice(this.root.length),
          data: 'data' in step ? step.data : null,
          ephemeral: 'ephemeral' in step && step.ephemeral,
        }));
    });
  }

  #facts(seed: number, endedAtMs: number): Run {
    const { timeouts, backoff } = this.#baseConfig;
    return {
      seed,
      root: this.root,
      nodes: [...this.nodes],
      leaders: this.#scale.leaders,
      sessionTimeoutMs: this.#scale.sessionTimeoutMs,
      claimMs: durationMs(timeouts.claim),
      takeoverMs: durationMs(timeouts.takeover),
      releaseMs: durationMs(timeouts.release),
      graceMs: durationMs(timeouts.grace),
      backoffMs: durationMs(backoff.base),
      ensembleMs: 10 * this.#longestTickMs,
      slackMs: 1_000,
      startedAtMs: this.#startedAtMs,
      endedAtMs,
    };
  }

  get #longestTickMs(): number {
    return Math.max(...this.#serverTimes.map(({ tickTimeMs }) => tickTimeMs));
  }

  get #all(): Parts {
    return started(this.#parts, 'the world');
  }
}
