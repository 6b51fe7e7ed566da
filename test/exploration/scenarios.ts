/** The groups to explore: their nodes, the changes, and the possible faults. */

import type { GroupConfig } from '../../src/model/group-config.js';
import { fromInstant } from '../../src/model/names.js';
import type { ReadyStrategy } from '../../strategies/index.js';
import { config, ineligibleReasons, strategyOf, versioned } from '../core/builders.js';
import {
  clockJump,
  eviction,
  overrideOf,
  pause,
  priorityOf,
  resume,
  secondMachine,
  stop,
  switchoverTo,
} from './changes.js';
import { goodHands, type Hands } from './decide.js';
import { type CoverageGoal, type Exploration, ensembleNowMs } from './explore.js';
import type { Faults } from './faults.js';
import { actors, type Change, type Rules } from './step.js';
import { Rulebook } from './steps.js';
import { newSetting, newWorld, type Setting, settings, type World } from './world.js';

export interface Scenario {
  readonly name: string;
  /** Description in one line: what the scenario explores, and what it leaves out to remain finite. */
  readonly about: string;
  readonly nodes: readonly string[];
  /** Whether the first node leads at the start. Otherwise no node has been elected yet. */
  readonly isLed?: boolean;
  readonly config?: Partial<GroupConfig>;
  readonly setting?: Partial<Omit<Setting, 'config'>>;
  readonly changes?: readonly Change[];
  readonly faults: readonly Faults[];
  readonly maxFaults: number;
  readonly backMs?: number;
  readonly readsClock?: boolean;
  /**
   * Maximum number of times that leadership may move by itself after each change, gift or fault. Undefined
   * means that moves are not counted.
   */
  readonly maxMoves?: number;
  /** The event that the scenario is about. The exploration must have seen it. */
  readonly goal?: CoverageGoal;
}

export interface Sabotage {
  readonly hands?: Hands;
  readonly withoutLease?: boolean;
  readonly withoutReduction?: boolean;
}

export function explorationOf(scenario: Scenario, sabotage: Sabotage = {}): Exploration {
  const { nodes, faults, maxFaults, changes = [] } = scenario;
  const group = { ...settings, ...scenario.config };
  const setting = newSetting(group, { nodes: nodes.length, ...scenario.setting });
  const readsClock = scenario.readsClock ?? false;
  const rules: Rules = {
    setting,
    faults,
    changes,
    hands: sabotage.hands ?? goodHands,
    readsClock,
    withoutLease: sabotage.withoutLease ?? false,
    maxMoves: scenario.maxMoves ?? null,
    reduces: sabotage.withoutReduction !== true,
  };
  const fresh = newWorld(nodes, group, 0, setting.publishes);
  return {
    rules,
    start: {
      ...(scenario.isLed === true ? led(fresh, rules) : fresh),
      faults: maxFaults,
    },
    backMs: scenario.backMs ?? 0,
    mayRestart: faults.includes('delete-tree'),
    isGood,
    isHopeful,
    goal: scenario.goal ?? null,
  };
}

/** Returns a world in which a node leads and nothing is left to do. The world is reached without faults. */
function led(start: World, rules: Rules): World {
  const book = new Rulebook({ ...rules, faults: [], changes: [] });
  let world = start;
  for (;;) {
    const step = book.stepsOf(world).find(({ kind, actor }) => kind === 'due' && actor !== actors.time);
    if (step === undefined) break;
    world = step.world;
  }
  if (!isGood(world)) throw new Error('nobody leads in a group without faults');
  return { ...world, moves: 0 };
}

/** Whether the elected node leads and its workload is running. */
function isGood({ tree, agents }: World): boolean {
  const { current, elected } = tree;
  if (current?.value?.status !== 'READY' || elected?.value?.node !== current.value.node) return false;
  return agents.some(({ session, work, process }) => {
    return session === current.owner && process === 'up' && work === current.token;
  });
}

/** Whether some node is up, connected and eligible, and no workload resists being stopped. */
function isHopeful(world: World): boolean {
  const { tree, agents } = world;
  const group = tree.config?.value ?? settings;
  if (agents.some(({ hook, frozen, cut }) => hook?.state === 'stuck' && !frozen && !cut)) return false;
  const able = agents.filter(
    ({ process, frozen, cut, drainUntilMs }) => process === 'up' && !frozen && !cut && drainUntilMs === null,
  );
  const eligible = able.filter(({ node, registration, session }) => {
    const there = { ...versioned(registration), node, owner: session, seat: null };
    return ineligibleReasons(there, group, [], ensembleNowMs(world)).length === 0;
  });
  if (group.paused === null) return eligible.length > 0;
  const elected = tree.elected?.value?.node;
  return eligible.some(({ node }) => node === elected);
}

const unseating: CoverageGoal = {
  what: 'a silent elector is unseated',
  isReached: (before, after) => {
    const sender = before.agents.find(
      ({ round }) => round.at === 'sent' && round.request.purpose.for === 'unseat',
    );
    return sender !== undefined && after.tree.seats.length < before.tree.seats.length;
  },
};

const handingOver: CoverageGoal = {
  what: 'a leader hands over by the prepared decision',
  isReached: (before, after) => {
    const { elected, current } = before.tree;
    return (
      current !== null &&
      after.tree.current === null &&
      after.tree.elected?.version === (elected?.version ?? 0) + 1 &&
      after.tree.elected.value?.cause === 'shutdown'
    );
  },
};

const decidingAndClaiming: CoverageGoal = {
  what: 'an elector replaces a leader by itself, and claims in the same write',
  isReached: (before, after) => {
    const { elected, current } = before.tree;
    const isMade = after.tree.elected?.version === (elected?.version ?? 0) + 1;
    return isMade && elected?.value?.node != null && current === null && after.tree.current !== null;
  },
};

const light = [
  'crash',
  'expire',
  'stall',
  'lose',
  'takeover-fails',
  'takeover-hangs',
  'release-hangs',
] as const;
const full = [
  'crash',
  'freeze',
  'cut',
  'lose',
  'takeover-fails',
  'takeover-hangs',
  'release-hangs',
  'slow',
] as const;

/**
 * Faults of a reply or a hook. They add few worlds, so each scenario with one other fault includes all of
 * them. The `switchover-3` scenarios allow two faults among three nodes. They are split so that each has a
 * manageable size. Every pair of the `light` faults occurs in one of them.
 */
const little = ['lose', 'takeover-fails', 'takeover-hangs', 'release-hangs'] as const;
const switchoversOfThree: readonly Scenario[] = (
  [
    ['crash', [...little]],
    ['expire', [...little]],
    ['stall', [...little]],
    ['crash', ['expire']],
    ['crash', ['stall']],
    ['expire', ['stall']],
  ] as const
).map(([first, others]) => ({
  name: `switchover-3-${first}${others.length === 1 ? `-${others[0]}` : ''}`,
  about: 'three nodes and a switchover; two faults',
  setting: { shortSessions: true },
  nodes: ['a1', 'a2', 'b1'],
  isLed: true,
  changes: [switchoverTo('b1')],
  faults: [first, ...others],
  maxFaults: 2,
}));

export const scenarios: readonly Scenario[] = [
  {
    name: 'first-2',
    about: 'two nodes, nobody elected yet; one fault of any kind',
    nodes: ['a1', 'b1'],
    faults: full,
    maxFaults: 1,
  },
  {
    name: 'first-2-twice',
    about: 'two nodes, nobody elected yet; two faults',
    setting: { shortSessions: true },
    nodes: ['a1', 'b1'],
    faults: light,
    maxFaults: 2,
  },
  {
    name: 'first-3',
    about: 'three nodes, nobody elected yet; one fault',
    setting: { shortSessions: true },
    nodes: ['a1', 'a2', 'b1'],
    faults: light,
    maxFaults: 1,
  },
  {
    name: 'first-3-twice',
    about: 'three nodes, nobody elected yet; two faults',
    setting: { shortSessions: true },
    nodes: ['a1', 'a2', 'b1'],
    faults: light,
    maxFaults: 2,
  },
  {
    name: 'switchover-2',
    about: 'two nodes and a switchover; one fault of any kind',
    nodes: ['a1', 'b1'],
    isLed: true,
    changes: [switchoverTo('b1')],
    faults: full,
    maxFaults: 1,
  },
  {
    name: 'switchover-3',
    about: 'three nodes and a switchover; one fault',
    setting: { shortSessions: true },
    nodes: ['a1', 'a2', 'b1'],
    isLed: true,
    changes: [switchoverTo('b1')],
    faults: light,
    maxFaults: 1,
  },
  ...switchoversOfThree,
  {
    name: 'failing-2',
    about: 'two nodes; two takeovers that fail or hang, or agents that crash of them',
    nodes: ['a1', 'b1'],
    faults: ['takeover-fails', 'takeover-hangs', 'crash'],
    maxFaults: 2,
  },
  {
    name: 'priority-2',
    about: 'two nodes; the site that leads loses its priority, and gets it back; one fault',
    setting: { shortSessions: true },
    nodes: ['a1', 'b1'],
    isLed: true,
    config: { failback: 'auto', backoff: { base: '10s', max: '10s' } },
    changes: [priorityOf('a', 10), priorityOf('a', 100)],
    faults: ['crash', 'expire', 'lose', 'takeover-fails'],
    maxFaults: 1,
  },
  {
    name: 'pause-2',
    about: 'two nodes; the group is paused and resumed; one fault',
    nodes: ['a1', 'b1'],
    isLed: true,
    changes: [pause, resume],
    faults: ['crash', 'expire', 'takeover-fails'],
    maxFaults: 1,
  },
  {
    name: 'stop-2',
    about: 'two nodes; the agent of one is asked to stop; one fault',
    setting: { shortSessions: true },
    nodes: ['a1', 'b1'],
    isLed: true,
    changes: [stop('a1')],
    faults: light,
    maxFaults: 1,
  },
  {
    name: 'leave-2',
    about: 'two nodes, and a successor is published; the leader, which is the elector, is stopped; one fault',
    setting: { shortSessions: true, publishes: true },
    nodes: ['a1', 'b1'],
    isLed: true,
    changes: [stop('a1')],
    faults: light,
    maxFaults: 1,
    goal: handingOver,
  },
  {
    name: 'leave-2-elsewhere',
    about: 'two nodes, and a successor is published, which is the elector; the leader is stopped; one fault',
    setting: { shortSessions: true, publishes: true },
    nodes: ['b1', 'a1'],
    isLed: true,
    changes: [stop('a1')],
    faults: light,
    maxFaults: 1,
    goal: handingOver,
  },
  {
    name: 'leave-3',
    about: 'an elector, a leader that is stopped, and its successor; one fault',
    setting: { shortSessions: true, publishes: true },
    nodes: ['b1', 'a1', 'a2'],
    isLed: true,
    changes: [stop('a1')],
    faults: light,
    maxFaults: 1,
    goal: handingOver,
  },
  {
    name: 'leave-3-ill',
    about: 'an elector, a leader that is stopped, and its successor; one becomes unhealthy or loses its seat',
    setting: { shortSessions: true, publishes: true },
    nodes: ['b1', 'a1', 'a2'],
    isLed: true,
    changes: [stop('a1')],
    faults: ['unhealthy', 'lose', 'delete-seat'],
    maxFaults: 1,
    goal: handingOver,
  },
  {
    name: 'leave-3-asked',
    about:
      'an elector, a leader that is stopped, and its successor; a switchover to another node at any time',
    setting: { shortSessions: true, publishes: true },
    nodes: ['b1', 'a1', 'a2'],
    isLed: true,
    changes: [stop('a1'), switchoverTo('b1')],
    faults: ['lose'],
    maxFaults: 1,
    goal: handingOver,
  },
  {
    name: 'leave-3-moved',
    about:
      'an elector, a leader, and its successor; the successor is published again, and a switchover to another node',
    setting: { shortSessions: true, publishes: true },
    nodes: ['b1', 'a1', 'a2'],
    isLed: true,
    changes: [priorityOf('b', 60), switchoverTo('b1')],
    faults: ['lose'],
    maxFaults: 1,
  },
  {
    name: 'leave-4-asked',
    about:
      'an elector, a leader that is stopped, and its successor; a switchover to a fourth node at any time',
    setting: { shortSessions: true, publishes: true },
    nodes: ['b1', 'a1', 'a2', 'a3'],
    isLed: true,
    changes: [stop('a1'), switchoverTo('a3')],
    faults: [],
    maxFaults: 0,
    goal: handingOver,
  },
  {
    name: 'leave-2-paused',
    about: 'two nodes; the leader is stopped; the group is paused and resumed at any time; one fault',
    setting: { publishes: true },
    nodes: ['b1', 'a1'],
    isLed: true,
    changes: [stop('a1'), pause, resume],
    faults: ['lose', 'release-hangs'],
    maxFaults: 1,
    goal: handingOver,
  },
  {
    name: 'leave-2-both',
    about: 'two nodes, and both are stopped; one fault',
    setting: { publishes: true },
    nodes: ['a1', 'b1'],
    isLed: true,
    changes: [stop('a1'), stop('b1')],
    faults: ['lose', 'takeover-fails', 'release-hangs'],
    maxFaults: 1,
    goal: handingOver,
  },
  {
    name: 'leave-2-evicted',
    about: 'a leader that is stopped crashes and is evicted, and another machine is started in its place',
    setting: { shortSessions: true, publishes: true },
    nodes: ['a1', 'b1'],
    isLed: true,
    changes: [stop('a1'), secondMachine('a1'), eviction('a1', true)],
    faults: ['crash'],
    maxFaults: 1,
    goal: handingOver,
  },
  {
    name: 'crash-2',
    about:
      'two nodes; the leader, which is the elector, fails in any way, and so may the other node; two faults',
    setting: { shortSessions: true, publishes: true },
    nodes: ['a1', 'b1'],
    isLed: true,
    faults: light,
    maxFaults: 2,
    goal: decidingAndClaiming,
  },
  {
    name: 'crash-2-elsewhere',
    about: 'two nodes; the leader fails in any way, and so may the elector, which follows it; two faults',
    setting: { shortSessions: true },
    nodes: ['b1', 'a1'],
    isLed: true,
    faults: ['crash', 'expire', 'lose', 'takeover-fails'],
    maxFaults: 2,
    goal: decidingAndClaiming,
  },
  {
    name: 'crash-3',
    about:
      'three nodes; the leader, which is the elector, fails, and the next elector follows it; two faults',
    setting: { shortSessions: true, publishes: true },
    nodes: ['a1', 'a2', 'b1'],
    isLed: true,
    faults: ['crash', 'lose', 'takeover-fails'],
    maxFaults: 2,
    goal: decidingAndClaiming,
  },
  {
    name: 'crash-2-paused',
    about: 'two nodes; the leader fails; the group is paused and resumed at any time',
    setting: { shortSessions: true },
    nodes: ['b1', 'a1'],
    isLed: true,
    changes: [pause, resume],
    faults: ['crash', 'lose', 'takeover-fails'],
    maxFaults: 2,
    goal: decidingAndClaiming,
  },
  {
    name: 'crash-3-asked',
    about: 'three nodes; the leader fails; a switchover to a node that would not follow, at any time',
    setting: { shortSessions: true },
    nodes: ['a1', 'a2', 'b1'],
    isLed: true,
    changes: [switchoverTo('b1')],
    faults: ['crash', 'lose'],
    maxFaults: 1,
    goal: decidingAndClaiming,
  },
  {
    name: 'crash-2-leaving',
    about: 'two nodes; the leader fails, while it or the elector that would follow it is stopped; one fault',
    setting: { shortSessions: true, publishes: true },
    nodes: ['b1', 'a1'],
    isLed: true,
    changes: [stop('a1'), stop('b1')],
    faults: ['crash', 'lose'],
    maxFaults: 1,
    goal: decidingAndClaiming,
  },
  {
    name: 'crash-2-evicted',
    about:
      'the leader and the node that follows it crash; that one is evicted, and another machine replaces it',
    setting: { shortSessions: true },
    nodes: ['b1', 'a1'],
    isLed: true,
    changes: [secondMachine('b1'), eviction('b1', true)],
    faults: ['crash'],
    maxFaults: 2,
    goal: decidingAndClaiming,
  },
  {
    name: 'crash-2-ill',
    about: 'two nodes; the leader fails, and the elector becomes unhealthy or loses its seat',
    setting: { shortSessions: true },
    nodes: ['b1', 'a1'],
    isLed: true,
    faults: ['crash', 'unhealthy', 'delete-seat'],
    maxFaults: 2,
    goal: decidingAndClaiming,
  },
  {
    name: 'health-2',
    about: 'two nodes; one or both become unhealthy; another fault',
    setting: { shortSessions: true },
    nodes: ['a1', 'b1'],
    isLed: true,
    faults: ['unhealthy', 'crash', 'takeover-fails'],
    maxFaults: 2,
  },
  {
    name: 'deleted-2',
    about: 'two nodes; the claim or seats are deleted by hand, twice',
    nodes: ['a1', 'b1'],
    faults: ['delete-claim', 'delete-seat', 'lose'],
    maxFaults: 2,
  },
  {
    name: 'tree-2',
    about: 'two nodes; the whole tree is deleted',
    nodes: ['a1', 'b1'],
    faults: ['delete-tree'],
    maxFaults: 1,
  },
  {
    name: 'evict-2',
    about: 'two nodes; one is evicted, alive or dead; another fault',
    nodes: ['a1', 'b1'],
    isLed: true,
    faults: ['evict', 'evict-dead', 'crash'],
    maxFaults: 2,
  },
  {
    name: 'back-2',
    about: 'two nodes, a switchover and one back, at any time after it; one fault',
    nodes: ['a1', 'b1'],
    isLed: true,
    changes: [switchoverTo('b1'), switchoverTo('a1')],
    faults: ['crash', 'lose', 'takeover-fails'],
    maxFaults: 1,
  },
  {
    name: 'fence-2',
    about: 'an elector and a leader that cannot release; the fence hook succeeds, fails or takes its time',
    nodes: ['b1', 'a1'],
    isLed: true,
    setting: { shortSessions: true, canFence: true },
    changes: [switchoverTo('b1')],
    faults: ['release-stuck', 'fence-fails'],
    maxFaults: 2,
  },
  {
    name: 'fence-3',
    about:
      'an elector, a leader that cannot release, and a candidate; the fence hook succeeds or takes its time',
    nodes: ['b1', 'a1', 'a2'],
    isLed: true,
    setting: { canFence: true },
    changes: [switchoverTo('a2')],
    faults: ['release-stuck'],
    maxFaults: 1,
  },
  {
    name: 'fence-3-twice',
    about:
      'an elector, a leader that cannot release, and a candidate; the fence hook may fail, and so may another release',
    nodes: ['b1', 'a1', 'a2'],
    isLed: true,
    setting: { canFence: true },
    changes: [switchoverTo('a2')],
    faults: ['release-stuck', 'fence-fails'],
    maxFaults: 2,
  },
  {
    name: 'question-a',
    about:
      'a fence hook that hits a node elected again: a release that cannot be ended, a switchover away and back',
    nodes: ['b1', 'a1'],
    setting: { shortSessions: true, canFence: true },
    changes: [switchoverTo('b1'), switchoverTo('a1')],
    faults: ['release-stuck'],
    maxFaults: 1,
    goal: {
      what: 'the fence hook powers off a node that leads again',
      isReached: ({ agents, tree }, { agents: after }) =>
        agents.some(({ fencing, index }) => {
          const hits = fencing !== null && !fencing.hit && after[index]?.fencing?.hit === true;
          const { current } = tree;
          return hits && current?.value?.node === fencing.fence.node && current.token !== fencing.fence.token;
        }),
    },
  },
  {
    name: 'question-b',
    about: 'two electors that rank differently, and silent nodes are unseated; one fault',
    nodes: ['a1', 'b1'],
    isLed: true,
    config: { failback: 'auto', backoff: { base: '10s', max: '10s' } },
    setting: { audits: true, strategies: [preferring('a1', 'b1'), preferring('b1', 'a1')] },
    changes: [switchoverTo('b1')],
    faults: ['stall'],
    maxFaults: 1,
    goal: unseating,
  },
  {
    name: 'question-b-alike',
    about: 'two electors that rank alike, and silent nodes are unseated; one fault',
    nodes: ['a1', 'b1'],
    isLed: true,
    config: { failback: 'auto', backoff: { base: '10s', max: '10s' } },
    setting: { audits: true },
    changes: [switchoverTo('b1')],
    faults: ['stall'],
    maxFaults: 1,
    goal: unseating,
  },
  {
    name: 'question-c',
    about: 'a second machine under the name of the leader, and an eviction of that name; no fault besides',
    nodes: ['a1', 'b1'],
    isLed: true,
    changes: [secondMachine('a1'), eviction('a1', false)],
    faults: [],
    maxFaults: 0,
    goal: {
      what: 'the second machine leads after the first was evicted',
      isReached: (_, { agents }) =>
        agents.some(({ host, leadership }) => host === 1 && leadership?.stage === 'leading'),
    },
  },
  {
    name: 'question-c-dead',
    about: 'a leader that crashes is evicted with its claim, and another machine is started in its place',
    setting: { shortSessions: true },
    nodes: ['a1', 'b1'],
    isLed: true,
    changes: [secondMachine('a1'), eviction('a1', true)],
    faults: ['crash'],
    maxFaults: 1,
    goal: {
      what: 'the second machine leads in the place of the first',
      isReached: (_, { agents }) =>
        agents.some(({ host, leadership }) => host === 1 && leadership?.stage === 'leading'),
    },
  },
  {
    name: 'question-d',
    about: 'the ensemble’s clock jumps back and forth while takeovers fail',
    nodes: ['a1', 'b1'],
    changes: [clockJump(-40_000), clockJump(40_000)],
    faults: ['takeover-fails'],
    maxFaults: 2,
    backMs: 40_000,
    readsClock: true,
    goal: {
      what: 'a backoff begins later than now',
      isReached: (_, world) =>
        (world.tree.elected?.value?.failures ?? []).some(
          ({ failedAt }) => fromInstant(failedAt) > ensembleNowMs(world),
        ),
    },
  },
  {
    name: 'question-e',
    about: 'an override ends, whatever else happens at that very time',
    setting: { shortSessions: true },
    nodes: ['a1', 'b1'],
    isLed: true,
    config: { failback: 'auto', backoff: { base: '10s', max: '10s' } },
    changes: [overrideOf('b', 300)],
    faults: ['crash', 'expire', 'slow', 'lose'],
    maxFaults: 1,
    maxMoves: 2,
    goal: {
      what: 'time passes the override’s end while a node is slow',
      isReached: (before, after) =>
        after.faults < before.faults && after.nowMs > before.nowMs && endsBetween(before, after),
    },
  },
];

function endsBetween(before: World, after: World): boolean {
  const sites = Object.values(before.tree.config?.value?.sites ?? {});
  return sites.some(({ override }) => {
    const untilMs = override?.until == null ? null : fromInstant(override.until);
    return untilMs !== null && untilMs > ensembleNowMs(before) && untilMs <= ensembleNowMs(after);
  });
}

function preferring(...order: string[]): ReadyStrategy {
  return strategyOf(config({ strategy: 'preference-list', strategyOptions: { order } }));
}

export function scenarioOf(name: string, change: Partial<Scenario> = {}): Scenario {
  const found = scenarios.find((one) => one.name === name);
  if (found === undefined) {
    const names = scenarios.map((one) => one.name).join(', ');
    throw new Error(`there is no scenario "${name}". There are ${names}`);
  }
  return { ...found, ...change };
}
