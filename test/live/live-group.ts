/**
 * Agents in separate processes. Their probes cross an emulated wide-area network, and a service reports their
 * loads.
 */
import { createServer, type Server } from 'node:http';
import { type GroupConfig, groupConfigSchema } from '../../src/model/group-config.js';
import { parseJson } from '../../src/model/names.js';
import { scoreReportSchema } from '../../src/model/scores.js';
import { ensureTree } from '../../src/tree/ensure-tree.js';
import { type PetrelProcess, startProcess } from '../support/agents.js';
import { GroupView } from '../support/group-view.js';
import { closeServer, freePorts, listen } from '../support/ports.js';
import { uniqueRoot } from '../support/unique-root.js';
import { until } from '../support/until.js';
import type { WideArea } from '../support/wide-area.js';

const sessionTimeoutMs = 3_000;
const patience = { timeoutMs: 60_000 };

const config = groupConfigSchema.parse({
  failback: 'manual',
  stabilization: { interval: '2s' },
  firstElection: { nodes: 5, within: '30s' },
});

export interface Measured {
  readonly requests: number;
  readonly roundTripsMs: ReadonlyMap<string, number>;
}

export class LiveGroup implements AsyncDisposable {
  readonly #zookeeper: string;
  readonly #root = uniqueRoot('live');
  readonly #view: GroupView;
  readonly #area: WideArea;
  readonly #rates: Server;
  readonly #agents = new Map<string, PetrelProcess>();
  readonly #doors = new Map<string, number>();

  private constructor(zookeeper: string, area: WideArea, rates: Server) {
    this.#zookeeper = zookeeper;
    this.#area = area;
    this.#rates = rates;
    this.#view = new GroupView(zookeeper, this.#root, sessionTimeoutMs);
  }

  /** Starts a group. `rate` returns the number of requests per second from a node's clients. */
  static async start(
    zookeeper: string,
    area: WideArea,
    nodes: readonly string[],
    rate: (node: string) => number,
  ): Promise<LiveGroup> {
    const rates = createServer(({ url = '' }, answer) => answer.end(String(rate(url.slice(1)))));
    await listen(rates, 0);
    const group = new LiveGroup(zookeeper, area, rates);
    await ensureTree(await until(() => group.#view.store()), group.#view.paths);
    await group.#view.changeConfig((current) => void Object.assign(current, config));
    await Promise.all(nodes.map((node) => group.run(node)));
    await until(async () => (await group.#view.seated()).length === nodes.length, patience);
    return group;
  }

  async run(node: string): Promise<void> {
    const [port = 0] = await freePorts(1);
    const door = this.#doors.get(node) ?? (await this.#area.enter(node));
    this.#doors.set(node, door);
    this.#area.is(node, port);
    const rates = this.#rates.address();
    const ratesPort = typeof rates === 'object' && rates !== null ? rates.port : 0;
    const agent = await startProcess(['agent'], {
      PETREL_ZOOKEEPER: this.#zookeeper,
      PETREL_ROOT: this.#root,
      PETREL_NODE_ID: node,
      PETREL_SESSION_TIMEOUT: `${sessionTimeoutMs}ms`,
      PETREL_LOG_LEVEL: 'debug',
      PETREL_SCORES: JSON.stringify({ requests: { http: `http://127.0.0.1:${ratesPort}/${node}` } }),
      PETREL_PROBE_LISTEN: `127.0.0.1:${port}`,
      PETREL_PROBE_ADDRESS: `127.0.0.1:${door}`,
      PETREL_PROBE_PROTOCOL: 'udp',
      PETREL_PROBE_INTERVAL: '250ms',
      PETREL_PROBE_SECRET: 'known to the whole group',
    });
    this.#agents.set(node, agent);
    await agent.logged(/^joined/, patience);
  }

  configure(change: Partial<GroupConfig>): Promise<void> {
    return this.#view.changeConfig((current) => void Object.assign(current, change));
  }

  /** Makes the node lead. Starts it first if it is down. */
  async lead(node: string): Promise<void> {
    if (this.#agents.get(node)?.running !== true) await this.run(node);
    const leader = await this.leader();
    if (leader === node) return;
    await this.#view.switchOver(node);
    await until(async () => (await this.leader()) === node, { ...patience, describe: `${node} to lead` });
  }

  /** Waits for a READY leader other than `except`. Returns its name. */
  leader(except?: string): Promise<string> {
    const find = async () => {
      const leader = await this.#view.leader();
      return leader?.status === 'READY' && leader.node !== except ? leader.node : null;
    };
    return until(find, { ...patience, describe: 'a leader' });
  }

  async crash(node: string): Promise<void> {
    await this.#agents.get(node)?.kill9();
  }

  async reason(): Promise<string> {
    return (await this.#view.elected()).reason;
  }

  /** Returns the scores that the node has reported, or null before its first report. */
  async published(node: string): Promise<Measured | null> {
    const store = await this.#view.store();
    const path = this.#view.paths.score(node);
    if ((await store.exists(path)) === null) return null;
    const { value } = parseJson(scoreReportSchema, (await store.getData(path)).data.toString('utf8'));
    const requests = value?.values.get('requests');
    if (value === null || requests === undefined) return null;
    return { requests: Number(requests), roundTripsMs: value.roundTripsMs };
  }

  /** Returns the logs of all nodes, to diagnose a failure. */
  report(): string {
    return [...this.#agents].map(([node, { stderr }]) => `${node}:\n${stderr}`).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.stop()));
    await this.#view.close();
    await closeServer(this.#rates);
  }
}
