/**
 * Plans the faults of a run. A plan is a pure function of the seed and the round, so the same run can be
 * planned again. A plan names the targets of its faults by part, for example the leader of a slot, or the
 * elector. A part is resolved only when its fault begins, so the same plan may hit another node in another
 * run.
 */
import { z } from 'zod';
import { type Random, randomFrom } from './random.js';
import type { Scale } from './scale.js';

/**
 * Part of a node. `leader` is the leader of the fault's slot. `other` is a node that neither leads nor
 * elects, if there is one.
 */
export const nodePartSchema = z.enum(['leader', 'elector', 'other']);
export type NodePart = z.infer<typeof nodePartSchema>;
export const serverPartSchema = z.enum(['ensemble-leader', 'ensemble-follower']);
export type ServerPart = z.infer<typeof serverPartSchema>;

const times = {
  /** Time from the beginning of the round to the fault. */
  afterMs: z.number(),
  /** Time from the fault until it is reverted. 0 if there is nothing to revert. */
  lastsMs: z.number(),
};
/** Slot whose leader the fault is about. Undefined means slot 1. */
const ofSlot = { slot: z.int().min(1).optional() };
const onNode = { on: nodePartSchema, ...ofSlot, ...times };
const onServer = { on: serverPartSchema, ...times };

export const faultSchema = z.discriminatedUnion('kind', [
  /** Sends SIGKILL to the agent. The guardian restarts the agent. */
  z.object({ kind: z.literal('kill-agent'), ...onNode }),
  /** Sends SIGTERM to the agent's guardian. The node restarts when the fault ends. */
  z.object({ kind: z.literal('stop-agent'), ...onNode }),
  z.object({ kind: z.literal('freeze-agent'), ...onNode }),
  /** Sends SIGKILL to the guardian. The agent leaves the group, and the node restarts when the fault ends. */
  z.object({ kind: z.literal('kill-guardian'), ...onNode }),
  z.object({ kind: z.literal('freeze-guardian'), ...onNode }),
  /**
   * Kills guardian and agent together. The reaper ends the workload. The node restarts when the fault ends.
   */
  z.object({ kind: z.literal('kill-both'), ...onNode }),
  /**
   * Freezes agent, guardian and workload together, as if a virtual machine were suspended. The fault is
   * always shorter than the session timeout.
   */
  z.object({ kind: z.literal('freeze-machine'), ...onNode }),
  /**
   * Kills the reaper in addition to guardian and agent, so no process ends the workload. No seed plans this
   * fault. It serves to show that the check finds overlaps.
   */
  z.object({ kind: z.literal('orphan-workload'), ...onNode }),
  z.object({ kind: z.literal('cut-node'), lost: z.enum(['both', 'toServer', 'toClient']), ...onNode }),
  z.object({ kind: z.literal('slow-node'), delayMs: z.number(), ...onNode }),
  z.object({ kind: z.literal('reset-node'), ...onNode }),
  z.object({ kind: z.literal('cut-everybody'), ...times }),
  z.object({ kind: z.literal('kill-server'), ...onServer }),
  z.object({ kind: z.literal('freeze-server'), ...onServer }),
  z.object({ kind: z.literal('isolate-server'), lost: z.enum(['all', 'outbound', 'inbound']), ...onServer }),
  z.object({ kind: z.literal('slow-server'), delayMs: z.number(), ...onServer }),
  z.object({ kind: z.literal('reset-server'), ...onServer }),
  z.object({ kind: z.literal('kill-majority'), ...times }),
  /**
   * Breaks the takeover hooks of `count` nodes that do not lead, and moves leadership to one of these nodes.
   */
  z.object({
    kind: z.literal('bad-takeover'),
    how: z.enum(['fails', 'fails late', 'hangs', 'is slow', 'is stubborn']),
    count: z.int(),
    ...ofSlot,
    ...times,
  }),
  /** Breaks the leader's release hook, and makes the leader hand over. */
  z.object({
    kind: z.literal('bad-release'),
    how: z.enum(['fails', 'hangs', 'is slow', 'leaves the workload', 'leaves a stubborn workload']),
    ...ofSlot,
    ...times,
  }),
  /** Makes the node's health check fail. */
  z.object({ kind: z.literal('sick-node'), ...onNode }),
  z.object({ kind: z.literal('switchover'), to: z.enum(['other', 'best-other']), ...ofSlot, ...times }),
  z.object({ kind: z.literal('failover'), ...ofSlot, ...times }),
  z.object({ kind: z.literal('lower-site'), ...ofSlot, ...times }),
  z.object({ kind: z.literal('disable-site'), ...ofSlot, ...times }),
  /** Makes the group prefer a site other than the leader's site, with automatic failback. */
  z.object({ kind: z.literal('prefer-site'), ...ofSlot, ...times }),
  z.object({ kind: z.literal('pause'), ...times }),
  z.object({ kind: z.literal('drain'), ...onNode }),
  z.object({ kind: z.literal('configure'), key: z.string(), value: z.string(), ...times }),
  /**
   * Moves leadership to a node with an odd workload that its release leaves, and away from it when the fault
   * ends. The workload is either one process without a main thread, or that and processes in other states.
   */
  z.object({
    kind: z.literal('odd-workload'),
    how: z.enum(['no main thread', 'many states']),
    ...ofSlot,
    ...times,
  }),
  /** Opens `count` HTTP connections to the leader that send no request, and some that read no answer. */
  z.object({ kind: z.literal('silent-readers'), count: z.int(), ...ofSlot, ...times }),
  /** Lets the group have no more znodes than it has. */
  z.object({ kind: z.literal('quota'), ...times }),
]);
export type Fault = z.infer<typeof faultSchema>;
export type FaultKind = Fault['kind'];

export const roundSchema = z.object({
  round: z.int(),
  faults: z.array(faultSchema),
  /** Duration of the calm period. It starts when the group has recovered from the faults. */
  calmMs: z.number(),
});
export type Round = z.infer<typeof roundSchema>;

type Sort = 'process' | 'machine' | 'network' | 'ensemble' | 'hooks' | 'people' | 'readers' | 'quota';

/**
 * Whether two sorts of faults may overlap. Two faults of one sort, except of processes, would revert each
 * other, or leave no server for the others. A machine that freezes while its lease cannot be renewed may
 * outlast the lease, which no process can prevent.
 */
function mayOverlap(one: Sort, other: Sort): boolean {
  const sorts = [one, other];
  if (sorts.includes('machine')) return sorts.includes('hooks') || sorts.includes('people');
  return one !== other || one === 'process';
}

interface Maker {
  readonly sort: Sort;
  readonly weight: number;
  readonly make: (random: Random, sessionTimeoutMs: number) => Fault;
}

const makers: readonly Maker[] = [
  {
    sort: 'process',
    weight: 5,
    make: (random) => ({ kind: 'kill-agent', on: node(random), ...start(random), lastsMs: 0 }),
  },
  process('stop-agent', 2),
  process('freeze-agent', 5),
  process('kill-guardian', 2),
  process('kill-both', 2),
  process('freeze-guardian', 2),
  {
    sort: 'machine',
    weight: 1,
    make: (random, T) => ({
      kind: 'freeze-machine',
      on: node(random),
      ...start(random),
      lastsMs: Math.round(T * (0.05 + 0.3 * random.next())),
    }),
  },
  {
    sort: 'network',
    weight: 6,
    make: (random, T) => ({
      kind: 'cut-node',
      lost: random.pick(['both', 'both', 'toServer', 'toClient']),
      on: node(random),
      ...span(random, T),
    }),
  },
  {
    sort: 'network',
    weight: 2,
    make: (random, T) => ({
      kind: 'slow-node',
      delayMs: random.between(20, Math.round(0.15 * T)),
      on: node(random),
      ...span(random, T),
    }),
  },
  {
    sort: 'network',
    weight: 1,
    make: (random) => ({ kind: 'reset-node', on: node(random), ...start(random), lastsMs: 0 }),
  },
  {
    sort: 'network',
    weight: 2,
    make: (random, T) => ({ kind: 'cut-everybody', ...span(random, T) }),
  },
  server('kill-server', 3),
  server('freeze-server', 3),
  {
    sort: 'ensemble',
    weight: 4,
    make: (random, T) => ({
      kind: 'isolate-server',
      lost: random.pick(['all', 'all', 'outbound', 'inbound']),
      on: serverPart(random),
      ...span(random, T),
    }),
  },
  {
    sort: 'ensemble',
    weight: 1,
    make: (random, T) => ({
      kind: 'slow-server',
      delayMs: random.between(10, 200),
      on: serverPart(random),
      ...span(random, T),
    }),
  },
  {
    sort: 'ensemble',
    weight: 1,
    make: (random) => ({ kind: 'reset-server', on: serverPart(random), ...start(random), lastsMs: 0 }),
  },
  {
    sort: 'ensemble',
    weight: 1,
    make: (random, T) => ({ kind: 'kill-majority', ...span(random, T) }),
  },
  {
    sort: 'hooks',
    weight: 5,
    make: (random, T) => ({
      kind: 'bad-takeover',
      how: random.pick(['fails', 'fails late', 'hangs', 'is slow', 'is stubborn']),
      count: random.between(1, 3),
      ...start(random),
      lastsMs: Math.round(T * (1 + random.next())),
    }),
  },
  {
    sort: 'hooks',
    weight: 3,
    make: (random, T) => ({
      kind: 'bad-release',
      how: random.pick(['fails', 'hangs', 'is slow', 'leaves the workload', 'leaves a stubborn workload']),
      ...start(random),
      lastsMs: Math.round(T * (0.5 + random.next())),
    }),
  },
  {
    sort: 'hooks',
    weight: 2,
    make: (random, T) => ({ kind: 'sick-node', on: node(random), ...span(random, T) }),
  },
  {
    sort: 'people',
    weight: 3,
    make: (random) => ({
      kind: 'switchover',
      to: random.pick(['other', 'best-other']),
      ...start(random),
      lastsMs: 0,
    }),
  },
  { sort: 'people', weight: 1, make: (random) => ({ kind: 'failover', ...start(random), lastsMs: 0 }) },
  people('lower-site', 2),
  people('disable-site', 1),
  people('prefer-site', 1),
  people('pause', 2),
  {
    sort: 'people',
    weight: 2,
    make: (random, T) => ({ kind: 'drain', on: node(random), ...span(random, T) }),
  },
  {
    sort: 'people',
    weight: 2,
    make: (random, T) => {
      const [key, value] = random.pick([
        ['strategy', 'round-robin'],
        ['strategy', 'oldest'],
        ['failback', 'auto'],
        ['minLeadership', '5s'],
        ['timeouts.takeover', '5s'],
        ['backoff.base', '1s'],
      ]);
      return { kind: 'configure', key, value, ...span(random, T) };
    },
  },
];

/**
 * Faults that were added later. One of them may join the faults of a round, from a draw of its own, so that
 * the other faults of a seed stay what they were.
 */
const laterMakers: readonly Maker[] = [
  {
    sort: 'hooks',
    weight: 1,
    make: (random, T) => ({
      kind: 'odd-workload',
      how: random.pick(['no main thread', 'many states']),
      ...start(random),
      lastsMs: Math.round(T * (0.3 + 0.7 * random.next())),
    }),
  },
  {
    sort: 'readers',
    weight: 1,
    make: (random, T) => ({
      kind: 'silent-readers',
      // More than an agent allows.
      count: random.between(1_600, 2_400),
      ...start(random),
      lastsMs: Math.round(T * (0.5 + random.next())),
    }),
  },
  {
    sort: 'quota',
    weight: 1,
    make: (random, T) => ({
      kind: 'quota',
      ...start(random),
      lastsMs: Math.round(T * (1 + random.next())),
    }),
  },
];
const laterShare = 0.3;

/** Draws a later fault for a round. Returns none for most rounds, or if it must not overlap the others. */
function laterFault(random: Random, chosen: readonly Maker[]): Maker[] {
  if (random.next() >= laterShare) return [];
  const maker = draw(random, laterMakers);
  return chosen.every((other) => mayOverlap(maker.sort, other.sort)) ? [maker] : [];
}

/**
 * Returns a maker of faults that lower the number of leaders and raise it again. Such a fault is possible
 * only in a group with several leaders.
 */
function fewerLeaders(leaders: number): Maker {
  return {
    sort: 'people',
    weight: 3,
    make: (random, T) => {
      const value = String(random.between(1, leaders - 1));
      return { kind: 'configure', key: 'leaders', value, ...span(random, T) };
    },
  };
}

/** Plans round number `round` of a seed. The first round has number 1. */
export function planRound(
  seed: number,
  round: number,
  { leaders, sessionTimeoutMs }: Pick<Scale, 'leaders' | 'sessionTimeoutMs'>,
): Round {
  const random = randomFrom(seed * 1_000_003 + round * 7919);
  const possible = leaders === 1 ? makers : [...makers, fewerLeaders(leaders)];
  const count = random.pick([1, 1, 2, 2, 3]);
  const chosen: Maker[] = [];
  while (chosen.length < count) {
    const maker = draw(random, possible);
    if (chosen.every((other) => mayOverlap(maker.sort, other.sort))) chosen.push(maker);
  }
  const faultsOf = (makers: readonly Maker[], drawn: Random) =>
    makers
      .map(({ make }) => make(drawn, sessionTimeoutMs))
      .map((fault) => (leaders === 1 ? fault : aimed(fault, drawn.between(1, leaders))));
  const faults = faultsOf(chosen, random);
  const later = randomFrom(seed * 49_979_687 + round * 104_729);
  return {
    round,
    faults: [...faults, ...faultsOf(laterFault(later, chosen), later)].toSorted(
      (one, other) => one.afterMs - other.afterMs,
    ),
    calmMs: random.between(1_000, 4_000),
  };
}

/** Formats a round for display, with one line per fault. */
export function roundText({ round, faults }: Round): string {
  const lines = faults.map(({ kind, afterMs, lastsMs, ...rest }) => {
    const more = Object.entries(rest).map(([key, value]) => `${key} ${value}`);
    const length = lastsMs === 0 ? '' : ` for ${(lastsMs / 1000).toFixed(1)} s`;
    return `  +${(afterMs / 1000).toFixed(1)} s ${[kind, ...more].join(', ')}${length}`;
  });
  return [`round ${round}`, ...lines].join('\n');
}

/** Aims a fault at the leader of a slot. Changes nothing if the target of the fault is not a leader. */
function aimed(fault: Fault, slot: number): Fault {
  switch (fault.kind) {
    case 'bad-takeover':
    case 'bad-release':
    case 'odd-workload':
    case 'silent-readers':
    case 'switchover':
    case 'failover':
    case 'lower-site':
    case 'disable-site':
    case 'prefer-site':
      return { ...fault, slot };
    default:
      return 'on' in fault && fault.on === 'leader' ? { ...fault, slot } : fault;
  }
}

function draw(random: Random, possible: readonly Maker[]): Maker {
  let left = random.next() * possible.reduce((sum, { weight }) => sum + weight, 0);
  for (const maker of possible) {
    left -= maker.weight;
    if (left < 0) return maker;
  }
  throw new RangeError('the weights do not add up');
}

function process(
  kind: 'stop-agent' | 'freeze-agent' | 'kill-guardian' | 'kill-both' | 'freeze-guardian',
  weight: number,
): Maker {
  return { sort: 'process', weight, make: (random, T) => ({ kind, on: node(random), ...span(random, T) }) };
}

function server(kind: 'kill-server' | 'freeze-server', weight: number): Maker {
  return {
    sort: 'ensemble',
    weight,
    make: (random, T) => ({ kind, on: serverPart(random), ...span(random, T) }),
  };
}

function people(kind: 'lower-site' | 'disable-site' | 'prefer-site' | 'pause', weight: number): Maker {
  return { sort: 'people', weight, make: (random, T) => ({ kind, ...span(random, T) }) };
}

/** Picks the leader most often, because it has most to lose. */
function node(random: Random): NodePart {
  return random.pick(['leader', 'leader', 'elector', 'other']);
}

function serverPart(random: Random): ServerPart {
  return random.pick(['ensemble-leader', 'ensemble-follower']);
}

function start(random: Random): { afterMs: number } {
  return { afterMs: random.between(0, 4_000) };
}

/**
 * Returns the times of a fault. One half of all faults is shorter than the session timeout, and the other
 * half is longer.
 */
function span(random: Random, sessionTimeoutMs: number): { afterMs: number; lastsMs: number } {
  const share = random.next() < 0.5 ? 0.05 + 0.7 * random.next() : 1.2 + 0.8 * random.next();
  return { ...start(random), lastsMs: Math.round(sessionTimeoutMs * share) };
}
