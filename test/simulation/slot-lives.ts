/**
 * Draws runs of groups that have several leaders, though at times only one. The draws are independent of the
 * seed's other parameters, so they do not change other runs. Some of these runs are scripted, because the
 * situations that slots exist for are rare by chance.
 */
import { type GroupConfig, groupConfigSchema } from '../../src/model/group-config.js';
import type { Chance } from '../support/chance.js';
import {
  type Act,
  type Fault,
  type PlannedFault,
  sweepEvery,
  whoElects,
  whoLeads,
  whoLeadsLast,
} from './faults.js';
import { isScripted } from './scenarios.js';
import { at, people, type Scenario, type ScriptedRun, settledMs, twoSites } from './scripted-run.js';
import { names, type Setup } from './setup.js';

/**
 * Share of runs with several leaders among runs that are not scripted, do not step through calls, and have no
 * site rules.
 */
const share = 0.185;
const scriptedShare = 0.25;
const mostSlots = 3;
const longerMs = 3_000;

/** Whether this seed's group has several leaders. This must be the first draw from `chance`. */
export function hasSeveralLeaders(seed: number, chance: Chance): boolean {
  return chance.odds(share) && !isScripted(seed) && seed % sweepEvery !== 0;
}

/** Turns a drawn run into one of a group with several leaders. */
export function slotLifeOf(chance: Chance, drawn: ScriptedRun): ScriptedRun {
  const { setup } = drawn;
  const nodes = names.slice(0, Math.max(setup.nodes.length, chance.pick([2, 3, 3, 4, 4, 5])));
  const several = { ...setup, nodes, slots: mostSlots, checksPeace: chance.odds(0.25) };
  if (chance.odds(scriptedShare)) return chance.pick(scenarios)(chance, several);
  const own = {
    ...several,
    config: withLeaders(several.config, chance.pick([2, 2, 3, 1]), drawSpread(chance)),
    faultPeriodMs: setup.faultPeriodMs + longerMs,
  };
  const faults = [
    ...drawn.faults.map(({ atMs, fault }) => ({ atMs, fault: inSomeSlot(chance, fault) })),
    ...drawSlotFaults(chance, own),
  ];
  return { setup: own, faults: faults.sort((one, other) => one.atMs - other.atMs) };
}

type Spread = GroupConfig['siteRules']['spread'];

function withLeaders(config: GroupConfig, leaders: number, spread: Spread): GroupConfig {
  return groupConfigSchema.parse({ ...config, leaders, siteRules: { ...config.siteRules, spread } });
}

function drawSpread({ odds, pick }: Chance): Spread {
  return { over: odds(0.45) ? 'another-site' : 'any-site', strength: pick(['soft', 'soft', 'hard']) };
}

/** Moves a fault that was drawn for a group with one leader to a random slot. */
function inSomeSlot(chance: Chance, fault: Fault): Fault {
  const slot = 1 + chance.upTo(mostSlots - 1);
  switch (fault.kind) {
    case 'delete claim':
    case 'delete decision':
    case 'spoil decision':
      return { ...fault, slot };
    case 'upon':
      return { ...fault, befalls: inSomeSlot(chance, fault.befalls) };
    case 'people':
      return { ...fault, act: actIn(fault.act, slot) };
    case 'leave':
    case 'reset':
    case 'unhealthy':
      return fault.node === whoLeads && chance.odds(0.5) ? { ...fault, node: whoLeadsLast } : fault;
    default:
      return fault;
  }
}

function actIn(act: Act, slot: number): Act {
  switch (act.do) {
    case 'switchover':
    case 'switchover to the best':
    case 'failover':
      return { ...act, slot };
    default:
      return act;
  }
}

/** Draws actions of operators, who set the number of leaders and their spread, and who move a leader. */
function drawSlotFaults(chance: Chance, { nodes, faultPeriodMs }: Setup): PlannedFault[] {
  const { upTo, pick, between, odds } = chance;
  const drawAct = (): Act => {
    const slot = 1 + upTo(mostSlots - 1);
    const node = upTo(nodes.length - 1);
    return pick<Act>([
      { do: 'leaders', leaders: 1 + upTo(mostSlots - 1) },
      { do: 'leaders', leaders: 1 + upTo(mostSlots - 1) },
      { do: 'leaders', leaders: 1 + upTo(mostSlots - 1) },
      { do: 'spread', ...drawSpread(chance) },
      { do: 'switchover', node, slot },
      { do: 'switchover to the best', slot },
      { do: 'failover', node, slot },
    ]);
  };
  const count = upTo(3);
  return Array.from({ length: count }, () => {
    const fault = people(drawAct());
    const atMs = between(0, 0.9) * faultPeriodMs;
    if (!odds(0.25)) return at(atMs, fault);
    const write = pick(['decision', 'claim', 'READY', 'deletion'] as const);
    return at(atMs, {
      kind: 'upon',
      write,
      node: null,
      delayMs: between(0, 100),
      befalls: fault,
      forMs: 4_000,
    });
  });
}

// -- Scripted runs

const anySite: Spread = { over: 'any-site', strength: 'soft' };

function groupOf(
  setup: Setup,
  leaders: number,
  { rules = {}, ...changes }: Partial<Setup> & { readonly rules?: object },
): Setup {
  return twoSites(setup, { leaders, ...rules }, changes);
}

/** The number of leaders rises first and falls later, sometimes at the worst moment. */
const upAndDown: Scenario = (chance, setup) => {
  const { pick, between, odds } = chance;
  if (odds(0.4)) return moreFromMute(chance, setup);
  const fewer = people({ do: 'leaders', leaders: pick([1, 2]) });
  const write = pick(['decision', 'claim', 'READY'] as const);
  const delayMs = between(0, 60);
  const back: Fault = odds(0.5)
    ? fewer
    : { kind: 'upon', write, node: null, delayMs, befalls: fewer, forMs: 4_000 };
  return {
    setup: groupOf(setup, pick([1, 2]), { faultPeriodMs: settledMs + 9_000, isGentle: odds(0.5) }),
    faults: [
      at(settledMs + 2_990, back),
      at(settledMs + 3_000, people({ do: 'leaders', leaders: 3 })),
      at(settledMs + 6_000, people({ do: 'leaders', leaders: pick([1, 2]) })),
    ],
  };
};

/** The number of leaders rises while the elector's decisions are lost. */
const moreFromMute: Scenario = ({ between, pick }, setup) => ({
  setup: groupOf(setup, 1, { faultPeriodMs: settledMs + 3_000 }),
  faults: [
    at(settledMs, { kind: 'mute', node: whoElects, forMs: 1_000 }),
    at(settledMs + between(100, 1_500), people({ do: 'leaders', leaders: pick([2, 3]) })),
  ],
});

/** The number of leaders falls while the group is paused. */
const fewerWhilePaused: Scenario = ({ between }, setup) => ({
  setup: groupOf(setup, 3, { faultPeriodMs: settledMs + 8_000 }),
  faults: [
    at(settledMs, people({ do: 'pause' })),
    at(settledMs + between(500, 1_500), people({ do: 'leaders', leaders: 1 })),
    at(settledMs + 4_500, people({ do: 'leaders', leaders: 2 })),
    at(settledMs + 6_000, people({ do: 'resume' })),
  ],
});

/** A takeover fails in one slot. Another slot needs a leader afterwards. */
const inBackoffInAll: Scenario = (chance, setup) => {
  const { pick, odds } = chance;
  const config = { backoff: { base: '3s', max: '6s' }, failback: 'manual' };
  if (odds(0.5)) return failedBefore(chance, setup);
  return {
    setup: groupOf(setup, 2, { rules: config, faultPeriodMs: settledMs + 7_000 }),
    faults: [
      at(settledMs, { kind: 'hook', node: 1, phase: 'takeover', mood: 'fails', forMs: 6_000 }),
      at(settledMs, people({ do: 'failover', node: 1, slot: 2 })),
      at(settledMs + 1_800, { kind: pick(['unhealthy', 'leave']), node: whoLeads, forMs: 4_000 }),
    ],
  };
};

/**
 * A takeover fails in one slot. After the backoff, the node is elected in another slot, by a decision with
 * the same number.
 */
const failedBefore: Scenario = ({ upTo }, setup) => {
  const slot = 1 + upTo(1);
  const config = { backoff: { base: '1s', max: '1s' }, failback: 'manual' };
  return {
    setup: groupOf(setup, 2, { rules: config, faultPeriodMs: settledMs + 8_000 }),
    faults: [
      at(settledMs, { kind: 'hook', node: 3, phase: 'takeover', mood: 'fails', forMs: 1_000 }),
      at(settledMs, people({ do: 'failover', node: 3, slot })),
      at(settledMs + 4_000, people({ do: 'failover', node: 3, slot: 3 - slot })),
    ],
  };
};

/**
 * The leaders of two slots do not release. They must be fenced one after the other, because a node runs only
 * one hook at a time.
 */
const bothHeld: Scenario = ({ between }, setup) => {
  const nodes = names.slice(0, 5);
  const frozenMs = 9_000;
  const nextMs = settledMs + between(50, 200);
  return {
    setup: groupOf(setup, 2, {
      nodes,
      hasFence: true,
      sessionTimeoutMs: 4_000,
      tickMs: 1_000,
      delays: { leastMs: 0.2, mostMs: 2 },
      faultPeriodMs: settledMs + 10_000,
    }),
    faults: [
      ...nodes.map((_, node) => at(0, { kind: 'hook', node, phase: 'fence', mood: 'slow', forMs: 12_000 })),
      at(settledMs, { kind: 'freeze both', node: whoLeads, forMs: frozenMs }),
      at(settledMs, people({ do: 'drain', node: whoLeads })),
      at(nextMs, { kind: 'freeze both', node: whoLeadsLast, forMs: frozenMs }),
      at(nextMs, people({ do: 'drain', node: whoLeadsLast })),
    ],
  };
};

/**
 * The best node returns when the worst leader has only just begun to lead. Later, another node returns that
 * is equally good.
 */
const betterReturns: Scenario = ({ pick, between, odds }, setup) => {
  const returnsMs = settledMs + between(500, 1_500);
  return {
    setup: groupOf(setup, 2, {
      sites: ['a', 'b', 'c'],
      rules: {
        sites: { a: { priority: 300 }, b: { priority: 200 }, c: { priority: 100 } },
        failback: pick(['auto', 'after:2s']),
        failbackHold: '1s',
        minLeadership: pick(['0s', '4s']),
      },
      faultPeriodMs: settledMs + 12_000,
      isGentle: odds(0.6),
    }),
    faults: [
      at(0, { kind: 'unhealthy', node: 0, forMs: returnsMs }),
      at(0, { kind: 'unhealthy', node: 3, forMs: returnsMs + between(4_000, 6_000) }),
      at(returnsMs - 900, { kind: 'unhealthy', node: 2, forMs: 250 }),
    ],
  };
};

/** Slots should be in separate sites, either from the beginning or from a later time on. */
const keptApart: Scenario = ({ pick, odds }, setup) => {
  const spread: Spread = { over: 'another-site', strength: pick(['soft', 'hard']) };
  const isLater = odds(0.5);
  return {
    setup: groupOf(setup, 2, {
      rules: { siteRules: { spread: isLater ? anySite : spread }, failback: pick(['auto', 'manual']) },
      faultPeriodMs: settledMs + 9_000,
      isGentle: odds(0.5),
    }),
    faults: [
      at(settledMs, people({ do: 'spread', ...spread })),
      at(settledMs + 3_000, { kind: 'unhealthy', node: 1, forMs: 5_000 }),
      at(settledMs + 4_500, { kind: pick(['unhealthy', 'leave']), node: whoLeadsLast, forMs: 2_500 }),
    ],
  };
};

/** One leader after another stops leading, until there are fewer nodes than slots. */
const tooFewNodes: Scenario = ({ pick, between }, setup) => ({
  setup: groupOf(setup, 3, { faultPeriodMs: settledMs + 10_000 }),
  faults: [
    at(settledMs, { kind: pick(['leave', 'power off', 'unhealthy']), node: whoLeads, forMs: 6_000 }),
    at(settledMs + between(0, 1_500), {
      kind: pick(['leave', 'kill both']),
      node: whoLeadsLast,
      forMs: 5_000,
    }),
    at(settledMs + 3_500, { kind: 'leave', node: whoElects, forMs: 2_500 }),
  ],
});

/** Operators move the leader of one slot, sometimes to a node that leads another slot. */
const moved: Scenario = ({ pick, upTo }, setup) => ({
  setup: groupOf(setup, pick([2, 3]), { faultPeriodMs: settledMs + 8_000, isGentle: true }),
  faults: [0, 1_800, 3_600].map((laterMs) =>
    at(
      settledMs + laterMs,
      people({ do: pick(['switchover', 'failover']), node: upTo(3), slot: 1 + upTo(1) }),
    ),
  ),
});

/** One slot's decision or claim is deleted or spoiled by hand, while the other slot's leader is moved. */
const lostInOneSlot: Scenario = ({ pick, upTo, between }, setup) => {
  const slot = 1 + upTo(1);
  const forMs = 0;
  const kind = pick(['delete decision', 'spoil decision', 'delete claim'] as const);
  return {
    setup: groupOf(setup, 2, { faultPeriodMs: settledMs + 8_000 }),
    faults: [
      at(settledMs, { kind, slot, forMs }),
      at(settledMs + between(0, 400), people({ do: 'switchover to the best', slot: 3 - slot })),
      at(settledMs + 3_000, { kind: 'spoil decision', slot: 3 - slot, forMs }),
    ],
  };
};

const scenarios: readonly [Scenario, ...Scenario[]] = [
  upAndDown,
  fewerWhilePaused,
  inBackoffInAll,
  bothHeld,
  betterReturns,
  keptApart,
  tooFewNodes,
  moved,
  lostInOneSlot,
];
