/** Changes that operators make to a group. Each change may happen at any time, and at most once. */
import type { GroupConfig } from '../../src/model/group-config.js';
import { toInstant } from '../../src/model/names.js';
import { byHand, versioned } from '../core/builders.js';
import { ensembleNowMs } from './explore.js';
import type { Change } from './step.js';
import { newAgent, type Tree, type World } from './world.js';

function reconfigure(
  name: string,
  change: (config: GroupConfig, world: World) => GroupConfig | null,
): Change {
  return {
    name,
    isOfConfig: true,
    make(world) {
      const { config } = world.tree;
      if (config?.value == null) return null;
      const value = change(config.value, world);
      if (value === null) return null;
      return { ...world, tree: { ...world.tree, config: versioned(value, config.version + 1) } };
    },
  };
}

export const switchoverTo = (node: string) =>
  reconfigure(`a person asks for a switchover to ${node}`, (config, { tree }) => {
    const replacesTerm = tree.elected?.value?.term ?? 0;
    if (tree.elected?.value?.node == null || tree.elected.value.node === node) return null;
    return {
      ...config,
      switchover: { to: { node }, replacesTerm, notBefore: null, force: false, ...byHand },
    };
  });

export const priorityOf = (site: string, priority: number) =>
  reconfigure(`site ${site} gets priority ${priority}`, (config) => {
    const before = config.sites[site];
    if (before === undefined) return null;
    return { ...config, sites: { ...config.sites, [site]: { ...before, priority } } };
  });

/** Returns a change that sets a temporary priority. The priority lasts two units of time. */
export const overrideOf = (site: string, priority: number) =>
  reconfigure(`site ${site} gets priority ${priority} for 20 s`, (config, world) => {
    const before = config.sites[site];
    if (before === undefined || world.tree.current?.value?.status !== 'READY') return null;
    const override = { priority, until: toInstant(ensembleNowMs(world) + 20_000), ...byHand };
    return { ...config, sites: { ...config.sites, [site]: { ...before, override } } };
  });

export const pause = reconfigure('a person pauses the group', (config) => ({ ...config, paused: byHand }));

export const resume = reconfigure('a person resumes the group', (config) =>
  config.paused === null ? null : { ...config, paused: null },
);

/** Returns a change that requests the agent of `node` to stop. */
export const stop = (node: string): Change => ({
  name: `the agent of ${node} is asked to stop`,
  isOfConfig: false,
  make(world) {
    const agent = world.agents.find((one) => one.node === node);
    if (agent === undefined || agent.process !== 'up' || agent.drainUntilMs !== null) return null;
    const registration = { ...agent.registration, draining: true };
    const leaving = { ...agent, registration, awake: true, drainUntilMs: world.nowMs + 10_000 };
    return { ...world, agents: world.agents.map((one) => (one === agent ? leaving : one)) };
  },
});

/** Returns a change that starts a second machine with the node id of an existing machine. */
export const secondMachine = (node: string): Change => ({
  name: `a second machine is started as ${node}`,
  isOfConfig: false,
  make(world) {
    const session = world.lastSession + 1n;
    const index = world.agents.length;
    return {
      ...world,
      agents: [...world.agents, newAgent(index, node, session, 1)],
      sessions: [...world.sessions, { id: session, agent: index }],
      lastSession: session,
    };
  },
});

/**
 * Returns a change in which another server becomes the ensemble's leader. The clock of that server is ahead
 * or behind by `ms`.
 */
export const clockJump = (ms: number): Change => ({
  name: `the ensemble’s clock jumps by ${ms / 1000} s`,
  isOfConfig: false,
  make: (world) => ({ ...world, skewMs: world.skewMs + ms }),
});

/**
 * Returns a change in which an operator removes what a node left in the tree. With `isDead`, the operator
 * knows that nothing of the node is alive, and also removes the node's claim.
 */
export const eviction = (node: string, isDead: boolean): Change => ({
  name: `a person evicts ${node}${isDead ? ', which is dead, with its claim' : ''}`,
  isOfConfig: false,
  make(world) {
    const { tree } = world;
    const member = tree.members.find((one) => one.node === node);
    if (member === undefined) return null;
    const lives = world.agents.some(({ node: other, session, process, work }) => {
      return other === node && (work !== null || (session === member.owner && process === 'up'));
    });
    if (isDead && lives) return null;
    const isOwner = tree.current?.owner === member.owner;
    const left: Tree = {
      ...tree,
      members: tree.members.filter((one) => one !== member),
      seats: tree.seats.filter((one) => one.node !== node),
      current: isDead && isOwner ? null : tree.current,
    };
    return { ...world, tree: left };
  },
});
