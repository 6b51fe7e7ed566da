/**
 * The possible faults. Each fault that happens reduces the number of faults that the scenario still allows.
 */
import { endSession, withWatches } from './ensemble.js';
import { adriftOf, down, takeoverFailed } from './machine.js';
import { actor, isAlive, name, type Rules, type Steps, withAgent } from './step.js';
import type { Agent, Tree, World } from './world.js';

export const faultKinds = [
  'crash',
  /** The agent freezes for any length of time. Its lease and its session may end. */
  'freeze',
  /** The agent freezes for less than the length of a lease. */
  'stall',
  'cut',
  /**
   * The agent was cut off for so long that its workload was killed and its session ended. The agent has not
   * noticed yet.
   */
  'expire',
  'lose',
  'takeover-fails',
  'takeover-hangs',
  'release-hangs',
  'release-stuck',
  'fence-fails',
  'unhealthy',
  'delete-claim',
  'delete-seat',
  'delete-tree',
  'evict',
  'evict-dead',
  'slow',
] as const;
export type Faults = (typeof faultKinds)[number];

/**
 * Adds the faults that are possible in a world. A slow agent is also a fault, but that fault is in `time.ts`.
 */
export function faultsOf(steps: Steps, { faults }: Rules): void {
  const { world } = steps;
  const left = world.faults - 1;
  const add = (agent: Agent, words: string, next: World) =>
    steps.add({
      words: `FAULT: ${words}`,
      kind: 'fault',
      actor: actor(agent, 'agent'),
      world: { ...next, faults: left, moves: 0 },
    });
  for (const agent of world.agents) {
    for (const kind of faults) {
      const found = agentFault(world, agent, kind);
      if (found !== null) add(agent, found.words, found.world);
    }
  }
  const [first] = world.agents;
  if (first === undefined) return;
  for (const kind of faults) {
    for (const { words, tree } of treeFaults(world, kind)) {
      const isClaimLost = world.isClaimLost || kind === 'delete-claim' || kind === 'delete-tree';
      const newestTerm = kind === 'delete-tree' ? 0 : world.newestTerm;
      add(first, words, withWatches({ ...world, tree, isClaimLost, newestTerm }, world.tree));
    }
  }
}

function agentFault(world: World, agent: Agent, kind: Faults): { words: string; world: World } | null {
  if (agent.process !== 'up') return null;
  const { hook, round } = agent;
  const who = name(agent);
  const become = (words: string, next: Agent) => ({ words, world: withAgent(world, next) });
  switch (kind) {
    case 'crash': {
      const sent = adriftOf([agent]);
      const crashed = withAgent(world, down(agent));
      return { words: `${who} crashes`, world: { ...crashed, adrift: [...world.adrift, ...sent] } };
    }
    case 'freeze':
      return agent.frozen ? null : become(`${who} freezes`, { ...agent, frozen: true });
    case 'stall':
      return agent.frozen ? null : become(`${who} stands still`, { ...agent, frozen: true, stalls: true });
    case 'expire':
      if (agent.cut || agent.frozen || !isAlive(world, agent)) return null;
      return { words: `the session of ${who} expires, its workload killed`, world: expired(world, agent) };
    case 'cut': {
      if (agent.cut || agent.frozen) return null;
      const sent = adriftOf([agent]);
      const isCut = round.at === 'sent' || round.at === 'answered';
      const next: Agent = isCut
        ? { ...agent, cut: true, round: { at: 'asleep' }, awake: true }
        : { ...agent, cut: true };
      return {
        words: `${who} is cut off from the ensemble`,
        world: { ...withAgent(world, next), adrift: [...world.adrift, ...sent] },
      };
    }
    case 'lose': {
      const lost: Agent = { ...agent, round: { at: 'asleep' }, awake: true };
      if (agent.frozen) return null;
      if (round.at === 'answered')
        return become(`${who} never hears the answer (${round.request.purpose.for})`, lost);
      return null;
    }
    case 'takeover-fails':
      if (hook?.phase !== 'takeover' || hook.state !== 'runs' || agent.frozen) return null;
      return become(`the takeover of ${who} fails`, takeoverFailed(agent));
    case 'takeover-hangs':
      if (hook?.phase !== 'takeover' || hook.state !== 'runs') return null;
      return become(`the takeover of ${who} hangs`, { ...agent, hook: { ...hook, state: 'hangs' } });
    case 'release-hangs':
      if (hook?.phase !== 'release' || hook.state !== 'runs') return null;
      return become(`the release of ${who} hangs`, { ...agent, hook: { ...hook, state: 'hangs' } });
    case 'release-stuck':
      if (hook?.phase !== 'release' || hook.state !== 'runs') return null;
      return become(`the release of ${who} cannot be ended`, { ...agent, hook: { ...hook, state: 'stuck' } });
    case 'fence-fails':
      if (agent.fencing === null) return null;
      return become(`the fence hook of ${who} fails`, {
        ...agent,
        fencing: null,
        fencingToken: null,
        wakeAtMs: agent.fencing.untilMs,
      });
    case 'unhealthy': {
      const { health } = agent.registration;
      if (!health.ok) return null;
      const ill = { ...agent.registration, health: { ok: false, reason: 'disk full' } };
      return become(`${who} becomes unhealthy`, { ...agent, registration: ill, awake: true });
    }
    default:
      return null;
  }
}

function expired(world: World, agent: Agent): World {
  const { leadership, round } = agent;
  const isStarted = leadership !== null && leadership.stage !== 'claimed';
  const isSilent = round.at === 'sent' || round.at === 'answered';
  const killed: Agent = {
    ...agent,
    lease: 'over',
    leaseEnded: leadership !== null,
    work: null,
    hook: null,
    awake: true,
    round: isSilent ? { at: 'asleep' } : round,
    leadership: isStarted ? { ...leadership, stage: 'released' } : leadership,
  };
  return endSession(withAgent(world, killed), agent.session);
}

function treeFaults({ tree, agents }: World, kind: Faults): { words: string; tree: Tree }[] {
  const empty = { config: null, elected: null, current: null, history: null, members: [], seats: [] };
  switch (kind) {
    case 'delete-claim': {
      if (tree.current === null) return [];
      return [{ words: 'somebody deletes leader/current', tree: { ...tree, current: null } }];
    }
    case 'delete-seat':
      return tree.seats.map((seat) => ({
        words: `somebody deletes the seat of ${seat.node}`,
        tree: { ...tree, seats: tree.seats.filter((one) => one !== seat) },
      }));
    case 'delete-tree':
      return [{ words: 'somebody deletes the whole tree', tree: empty }];
    case 'evict':
      return tree.members.map(({ node }) => ({
        words: `${node} is evicted`,
        tree: {
          ...tree,
          members: tree.members.filter((one) => one.node !== node),
          seats: tree.seats.filter((one) => one.node !== node),
        },
      }));
    case 'evict-dead':
      // Such an eviction requires an operator who knows that nothing of the node is alive.
      return tree.members
        .filter(({ node, owner }) => {
          const own = agents.filter((one) => one.node === node && one.session === owner);
          return own.length > 0 && own.every((one) => one.process !== 'up' && one.work === null);
        })
        .map(({ node, owner }) => ({
          words: `${node}, which is dead, is evicted with its claim`,
          tree: {
            ...tree,
            members: tree.members.filter((one) => one.node !== node),
            seats: tree.seats.filter((one) => one.node !== node),
            current: tree.current?.owner === owner ? null : tree.current,
          },
        }));
    default:
      return [];
  }
}
