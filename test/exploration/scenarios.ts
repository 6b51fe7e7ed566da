/** The groups that are explored: who is there, what changes, and what may go wrong. */
import { obstacles } from '../../src/core/eligibility.js';
import type { GroupConfig } from '../../src/core/group-config.js';
import { byHand, versioned } from '../core/builders.js';
import { goodHands, type Hands } from './decide.js';
import { type Exploration, ensembleNowMs } from './explore.js';
import type { Faults } from './faults.js';
import type { Change, Rules } from './step.js';
import { newSetting, newWorld, type Setting, settings, type World } from './world.js';

export interface Scenario {
  readonly name: string;
  /** One line: what is explored, and what is left out to keep it finite. */
  readonly about: string;
  readonly nodes: readonly string[];
  readonly config?: Partial<GroupConfig>;
  readonly setting?: Partial<Omit<Setting, 'config'>>;
  readonly changes?: readonly Change[];
  readonly faults: readonly Faults[];
  readonly maxFaults: number;
  readonly backMs?: number;
  readonly readsClock?: boolean;
}

export interface Sabotage {
  readonly hands?: Hands;
  readonly withoutLease?: boolean;
}

export function explorationOf(scenario: Scenario, sabotage: Sabotage = {}): Exploration {
  const { nodes, faults, maxFaults, changes = [] } = scenario;
  const config = { ...settings, ...scenario.config };
  const setting = newSetting(config, { nodes: nodes.length, ...scenario.setting });
  const readsClock = scenario.readsClock ?? false;
  const rules: Rules = {
    setting,
    faults,
    changes,
    hands: sabotage.hands ?? goodHands,
    readsClock,
    withoutLease: sabotage.withoutLease ?? false,
  };
  return {
    rules,
    start: newWorld(nodes, config, maxFaults),
    backMs: scenario.backMs ?? 0,
    mayRestart: faults.includes('delete-tree'),
    isGood,
    isHopeful,
  };
}

/** The elected node leads, and works. */
function isGood({ tree, agents }: World): boolean {
  const { current, elected } = tree;
  if (current?.value?.status !== 'READY' || elected?.value?.node !== current.value.node) return false;
  return agents.some(({ session, work, process }) => {
    return session === current.owner && process === 'up' && work === current.token;
  });
}

/** Somebody is there, in touch and fit, and nobody's workload refuses to die. */
function isHopeful(world: World): boolean {
  const { tree, agents } = world;
  const config = tree.config?.value ?? settings;
  if (agents.some(({ hook, frozen, cut }) => hook?.state === 'stuck' && !frozen && !cut)) return false;
  const able = agents.filter(
    ({ process, frozen, cut, drainUntilMs }) => process === 'up' && !frozen && !cut && drainUntilMs === null,
  );
  const fit = able.filter(({ node, registration, session }) => {
    const there = { ...versioned(registration), node, owner: session, seat: null };
    return obstacles(there, config, [], ensembleNowMs(world)).length === 0;
  });
  if (config.paused === null) return fit.length > 0;
  const elected = tree.elected?.value?.node;
  return fit.some(({ node }) => node === elected);
}

function reconfigure(
  name: string,
  change: (config: GroupConfig, world: World) => GroupConfig | null,
): Change {
  return {
    name,
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

export const scenarios: readonly Scenario[] = [
  {
    name: 'first-2',
    about: 'two nodes, nobody elected yet; one fault',
    nodes: ['a1', 'b1'],
    faults: ['crash', 'freeze', 'cut', 'lose', 'takeover-fails', 'takeover-hangs', 'release-hangs'],
    maxFaults: 1,
  },
  {
    name: 'switchover-2',
    about: 'two nodes and a switchover; one fault',
    nodes: ['a1', 'b1'],
    changes: [switchoverTo('b1')],
    faults: ['crash', 'freeze', 'cut', 'lose', 'takeover-fails', 'takeover-hangs', 'release-hangs'],
    maxFaults: 1,
  },
];
