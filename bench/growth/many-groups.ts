/**
 * Measures any number of groups of three nodes each, on three machines. Each machine leads a third of the
 * groups.
 */
import type { Agent } from '../../src/agent/agent.js';
import type { Node } from '../../test/simulation/node.js';
import type { World } from '../../test/simulation/world.js';
import { type Burden, perSecond, type Standing } from './burden.js';
import { Deployment, type Episode } from './deployment.js';
import { type GroupOfNode, ManyNode } from './many-node.js';

/**
 * With `own` sessions, each node of each group has its own agent and session. With `shared` sessions, there
 * are three agents, and each is a node of all groups.
 */
export type Sessions = 'own' | 'shared';

export const manyGroupsEvents = {
  joinAll: 'all join at once',
  thirdDies: 'what leads a third dies',
  restart: 'the ensemble restarts',
} as const;
export type ManyGroupsEvent = keyof typeof manyGroupsEvents;

export interface ManyGroups {
  readonly groups: number;
  readonly events: Readonly<Record<ManyGroupsEvent, Episode>>;
  /** Traffic per second while nothing happens. */
  readonly idle: Burden;
  readonly standing: Standing;
}

const machines = ['a', 'b', 'c'] as const;
/**
 * The first election waits for all nodes, and leadership moves no more often than necessary. Each measured
 * event therefore contains only one transition per group.
 */
const config = { firstElection: { nodes: machines.length }, failback: 'manual' };
/** Time by which the first machine starts before the others. */
const earlierMs = 200;
/** Time after which a transition has no further consequences. */
const settlingMs = 10_000;
/**
 * Measured idle time. With shared sessions, it is twice the interval between two reads of a group. With own
 * sessions, it is that interval once, because all groups are alike.
 */
const idleMs: Readonly<Record<Sessions, number>> = { own: 30_000, shared: 100_000 };

export async function measureManyGroups(count: number, sessions: Sessions): Promise<ManyGroups> {
  const deployment = new Deployment();
  const roots = Array.from(
    { length: count },
    (_, index) => `/services/service-${String(index).padStart(5, '0')}`,
  );
  await deployment.found(roots, config);
  const fleet = sessions === 'own' ? new OwnFleet(deployment, roots) : new SharedFleet(deployment, roots);
  const isWhole = () => fleet.groups().every(isLed);
  const joinAll = await deployment.count('all groups to have leaders', () => fleet.start(), isWhole);
  if (!fleet.groups().every(leadsByPriority)) throw new Error('not each of the three leads a third');
  await deployment.pass(settlingMs);
  const idle = perSecond(await deployment.idle(idleMs[sessions]), idleMs[sessions]);
  const { standing } = deployment;
  const thirdDies = await deployment.count(
    'others to lead',
    () => fleet.killFirst(),
    () => fleet.isFirstBack() && isWhole(),
  );
  await deployment.pass(settlingMs);
  let isDown = false;
  const restart = await deployment.count(
    'everybody to be back',
    () => deployment.restartEnsemble(),
    () => {
      isDown ||= fleet.groups().every((agents) => agents.every(({ status }) => !status.joined));
      return isDown && isWhole();
    },
  );
  return { groups: count, events: { joinAll, thirdDies, restart }, idle, standing };
}

function isLed(agents: readonly Agent[]): boolean {
  const isThere = agents.length === machines.length && agents.every(({ status }) => status.joined);
  return isThere && agents.some(({ status }) => status.stage === 'leading');
}

/**
 * Whether the machine with the highest priority leads the group. The group's index determines that machine.
 */
function leadsByPriority(agents: readonly Agent[], index: number): boolean {
  return agents[index % machines.length]?.status.stage === 'leading';
}

function priorityOf(group: number, machine: number): number {
  return group % machines.length === machine ? 200 : 100;
}

interface Fleet {
  /**
   * Starts the first machine shortly before the others. It then elects in all groups, so its loss has the
   * largest effect.
   */
  start(): void;
  /** Returns the running agents of each group. */
  groups(): (readonly Agent[])[];
  /** Kills the agents on the first machine. */
  killFirst(): void;
  /** Whether the guardians of the killed agents have started new agents. */
  isFirstBack(): boolean;
}

class OwnFleet implements Fleet {
  readonly #world: World;
  readonly #nodes: readonly (readonly Node[])[];
  #killed: readonly Node['process'][] = [];

  constructor(deployment: Deployment, roots: readonly string[]) {
    this.#world = deployment.world;
    this.#nodes = roots.map((root, group) =>
      machines.map((machine, index) =>
        deployment.node(machine, { root, machine: `${machine}${root}`, priority: priorityOf(group, index) }),
      ),
    );
  }

  start(): void {
    for (const node of this.#first) node.start();
    this.#world.after(earlierMs, () => {
      for (const [, ...others] of this.#nodes) for (const node of others) node.start();
    });
  }

  groups(): (readonly Agent[])[] {
    return this.#nodes.map((nodes) => nodes.flatMap(({ agent }) => agent ?? []));
  }

  get #first(): readonly Node[] {
    return this.#nodes.flatMap(([first]) => first ?? []);
  }

  killFirst(): void {
    this.#killed = this.#first.map(({ process }) => process);
    for (const process of this.#killed) process?.kill();
  }

  isFirstBack(): boolean {
    return this.#first.every(({ process }, index) => process !== this.#killed[index]);
  }
}

class SharedFleet implements Fleet {
  readonly #world: World;
  readonly #roots: readonly string[];
  readonly #nodes: readonly ManyNode[];
  #killed: readonly Agent[] = [];

  constructor(deployment: Deployment, roots: readonly string[]) {
    this.#world = deployment.world;
    this.#roots = roots;
    this.#nodes = machines.map((machine, index) => {
      const groups = roots.map((root, group): GroupOfNode => ({ root, priority: priorityOf(group, index) }));
      return new ManyNode(deployment, machine, groups);
    });
  }

  start(): void {
    const [first, ...others] = this.#nodes;
    first?.start();
    this.#world.after(earlierMs, () => {
      for (const node of others) node.start();
    });
  }

  groups(): (readonly Agent[])[] {
    return this.#roots.map((_, group) => this.#nodes.flatMap(({ agents }) => agents[group] ?? []));
  }

  killFirst(): void {
    this.#killed = this.#nodes[0]?.agents ?? [];
    this.#nodes[0]?.killAgent();
  }

  isFirstBack(): boolean {
    const now = this.#nodes[0]?.agents ?? [];
    return now.length > 0 && now[0] !== this.#killed[0];
  }
}
