/** Measures one group of any number of nodes, each an agent with its own session. */
import { groupPaths } from '../../src/model/paths.js';
import type { Node } from '../../test/simulation/node.js';
import { openSimulated } from '../../test/simulation/node.js';
import { Operator } from '../../test/simulation/operator.js';
import { Process } from '../../test/simulation/process.js';
import { type Burden, perSecond, type Standing } from './burden.js';
import { Deployment, type Episode, people, servers, sessionTimeoutMs } from './deployment.js';

export const oneGroupEvents = {
  joinAll: 'all join at once',
  joinOne: 'one more joins',
  handover: 'planned handover',
  leaderDies: "the leader's agent dies",
  electorDies: "the elector's agent dies",
  restart: 'the ensemble restarts',
} as const;
export type OneGroupEvent = keyof typeof oneGroupEvents;

export interface OneGroup {
  readonly nodes: number;
  readonly events: Readonly<Record<OneGroupEvent, Episode>>;
  /** Traffic per second while nothing happens. */
  readonly idle: Burden;
  readonly standing: Standing;
}

const root = '/cluster';
/**
 * Returns the idle time to measure. It consists of whole periods after which each node has discarded its
 * cache and read everything again. The period grows with the group.
 */
const idleMs = (size: number) => Math.max(60_000, 300 * size);

export async function measureOneGroup(size: number): Promise<OneGroup> {
  const group = new Group(size);
  await group.found();
  const joinAll = await group.joinAll();
  const joinOne = await group.joinOne();
  const idle = await group.idle();
  const { standing } = group;
  await group.handOver();
  const handover = await group.handOver();
  const leaderDies = await group.leaderDies();
  await group.handOver();
  const electorDies = await group.electorDies();
  const restart = await group.restart();
  return {
    nodes: size,
    events: { joinAll, joinOne, handover, leaderDies, electorDies, restart },
    idle,
    standing,
  };
}

class Group {
  readonly #deployment = new Deployment();
  readonly #nodes: readonly Node[];
  readonly #operator: Operator;
  /** All nodes except the last one, which joins later. */
  readonly #early: readonly Node[];

  constructor(size: number) {
    const names = Array.from({ length: size }, (_, index) => `node-${String(index).padStart(5, '0')}`);
    this.#nodes = names.map((name) => this.#deployment.node(name, { root, machine: name }));
    this.#early = this.#nodes.slice(0, -1);
    const { world, network } = this.#deployment;
    const process = new Process(world, people, this.#deployment.clock());
    const open = () => openSimulated({ process, network, machine: people, world, servers, sessionTimeoutMs });
    this.#operator = new Operator(world, process, open, groupPaths(root), { nodes: names, sites: ['here'] });
  }

  get standing(): Standing {
    return this.#deployment.standing;
  }

  async found(): Promise<void> {
    let isFounded = false;
    this.#operator.process.deliver(() => {
      void this.#operator.found({}).then(() => {
        isFounded = true;
      });
    });
    await this.#deployment.until('the group to be founded', () => isFounded);
  }

  joinAll(): Promise<Episode> {
    const begin = () => {
      for (const node of this.#early) node.start();
    };
    return this.#deployment.count('all to join', begin, () => this.#isWhole(this.#early));
  }

  joinOne(): Promise<Episode> {
    const last = this.#nodes.at(-1);
    return this.#deployment.count(
      'one more to join',
      () => last?.start(),
      () => this.#isWhole(this.#nodes),
    );
  }

  /** Hands leadership over to a node that is not the elector. */
  handOver(): Promise<Episode> {
    const from = this.#leader();
    const to = this.#nodes.findLastIndex((node) => node !== from && node.agent?.status.elector === false);
    return this.#deployment.count(
      'the handover',
      () => this.#operator.do({ do: 'switchover', node: to }),
      () => this.#leader() === this.#nodes[to] && this.#isWhole(this.#nodes),
    );
  }

  leaderDies(): Promise<Episode> {
    const leader = this.#leader();
    return this.#dies(leader, () => this.#leader() !== leader);
  }

  electorDies(): Promise<Episode> {
    const elector = this.#nodes.find((node) => node.agent?.status.elector === true);
    return this.#dies(elector, () => elector?.agent?.status.elector === false);
  }

  #dies(node: Node | undefined, isSeen: () => boolean): Promise<Episode> {
    if (node === undefined) throw new Error('nobody is there to die');
    const before = node.process;
    return this.#deployment.count(
      `${node.name} to be replaced`,
      () => before?.kill(),
      () => node.process !== before && isSeen() && this.#isWhole(this.#nodes),
    );
  }

  restart(): Promise<Episode> {
    let isDown = false;
    return this.#deployment.count(
      'everybody to be back',
      () => this.#deployment.restartEnsemble(),
      () => {
        isDown ||= this.#nodes.every(({ agent }) => agent?.status.joined !== true);
        return isDown && this.#isWhole(this.#nodes);
      },
    );
  }

  async idle(): Promise<Burden> {
    const ms = idleMs(this.#nodes.length);
    return perSecond(await this.#deployment.idle(ms), ms);
  }

  #leader(): Node | undefined {
    return this.#nodes.find(({ agent }) => agent?.status.stage === 'leading');
  }

  #isWhole(nodes: readonly Node[]): boolean {
    return (
      nodes.every(({ agent }) => agent?.status.joined === true) &&
      nodes.some(({ agent }) => agent?.status.stage === 'leading') &&
      nodes.some(({ agent }) => agent?.status.elector === true)
    );
  }
}
