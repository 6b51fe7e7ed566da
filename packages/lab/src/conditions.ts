/**
 * The conditions of an election: the number of nodes, the network, and the events that happen to the nodes.
 */
import * as z from 'zod';

/** Distribution of the time that a message takes. */
export const delaySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('constant'), ms: z.number().positive() }),
  z.object({ kind: z.literal('uniform'), fromMs: z.number().min(0), toMs: z.number().positive() }),
  z.object({ kind: z.literal('exponential'), meanMs: z.number().positive() }),
]);
export type Delay = z.infer<typeof delaySchema>;

export const scenarios = [
  'start',
  'crash',
  'crashes',
  'bye',
  'alarm',
  'join',
  'restart',
  'midway',
  'partition',
] as const;
/**
 * The event that causes the measured election.
 * - start: all nodes begin at the same time.
 * - crash: the leader crashes.
 * - crashes: the leader crashes. At a random instant within twice the detection time, the highest of the
 *   other nodes crashes too.
 * - bye: the leader announces that it is leaving.
 * - alarm: a follower wrongly believes that the leader is dead.
 * - join: a node joins late.
 * - restart: the leader crashes and returns without its memory.
 * - midway: like start, but the node with the highest number crashes early, within the time that a message
 *   may take to go round all nodes. If elections take that long, the node crashes during the election.
 * - partition: the network separates a minority (the leader and the lowest nodes) from all other nodes and
 *   from the server. Messages between the sides are lost. The separation ends after `apartMs`.
 *
 * All events except start and midway happen after all nodes have agreed and a calm period has passed.
 */
export type Scenario = (typeof scenarios)[number];

export const conditionsSchema = z.object({
  nodes: z.int().min(1).max(10_000),
  scenario: z.enum(scenarios).default('start'),
  delay: delaySchema.default({ kind: 'constant', ms: 10 }),
  /** The probability that a copy of a message is lost. */
  loss: z.number().min(0).max(0.95).default(0),
  /** Whether all receivers of a multicast share the same fate: either all of them miss it, or none does. */
  correlated: z.boolean().default(false),
  /**
   * Order of node numbers on the ring. `random` selects a random order. With `rising` or `falling`, the
   * numbers rise or fall in the direction of the messages.
   */
  order: z.enum(['random', 'rising', 'falling']).default('random'),
  /**
   * The nodes that begin an election, if the algorithm does not require all nodes to begin. If `initiators`
   * is a number, that number of nodes is drawn at random. `highest` is the node with the highest number, and
   * `after-highest` is its successor.
   */
  initiators: z
    .union([z.literal('all'), z.literal('highest'), z.literal('after-highest'), z.int().min(1)])
    .default('all'),
  /** The node that learns of a crash first. `all` means that all nodes learn of it at the same time. */
  noticedBy: z.enum(['all', 'lowest', 'highest']).default('all'),
  /** Whether the node that joins late has the highest or the lowest number. */
  joiner: z.enum(['highest', 'lowest']).default('highest'),
  /** TA: interval between announcements by a leader, or between renewals of a lease. */
  announceMs: z.number().positive().default(1000),
  /**
   * TL: time without an announcement after which a leader is considered dead. Null selects a time that is
   * long enough for the given loss.
   */
  listenMs: z.number().positive().nullable().default(null),
  /** TS: longest time that a node waits before it announces itself. */
  suppressMs: z.number().positive().default(1000),
  /**
   * The probability density of a wait t is proportional to e^(rate·t/TS). 0 means uniform waits. With a
   * positive rate, most waits are long.
   */
  suppressRate: z.number().min(-50).max(50).default(0),
  /** Number of times a leader announces its departure. */
  byes: z.int().min(1).max(100).default(1),
  /** Time that a failure detector takes to detect a crash. For ZooKeeper, this is the session timeout. */
  detectMs: z.number().positive().default(3000),
  /** The probability that a node never learns of a crash. */
  missed: z.number().min(0).max(1).default(0),
  /**
   * Rate, per second, at which live nodes are wrongly believed to be dead. Each mistake lasts for `detectMs`.
   */
  mistakesPerS: z.number().min(0).default(0),
  /** Time for which the leader is away in the scenario `restart`. */
  awayMs: z.number().positive().default(1000),
  /** Time for which the network is separated in the scenario `partition`. */
  apartMs: z.number().positive().default(20_000),
  /**
   * Time for which the nodes are observed after the election. Null selects a time that is long enough for
   * every failure detector and every listener to notice a crash.
   */
  observeMs: z.number().positive().nullable().default(null),
  /** Simulated time after which an election that has not ended is abandoned. */
  limitMs: z.number().positive().default(600_000),
});
export type Conditions = z.infer<typeof conditionsSchema>;

/** Throws a ZodError if the conditions are invalid. */
export function conditions(given: z.input<typeof conditionsSchema>): Conditions {
  return conditionsSchema.parse(given);
}

export function meanDelayMs(delay: Delay): number {
  switch (delay.kind) {
    case 'constant':
      return delay.ms;
    case 'uniform':
      return (delay.fromMs + delay.toMs) / 2;
    case 'exponential':
      return delay.meanMs;
  }
}

/**
 * Draws the time that a message takes if every lost copy is sent again. Also returns the number of copies
 * sent.
 */
export function drawWay(
  { delay, loss }: Conditions,
  random: () => number,
): { readonly ms: number; readonly copies: number } {
  let ms = drawDelayMs(delay, random);
  let copies = 1;
  for (; loss > 0 && random() < loss; copies += 1) ms += retryDelays * meanDelayMs(delay);
  return { ms, copies };
}

export function drawDelayMs(delay: Delay, random: () => number): number {
  switch (delay.kind) {
    case 'constant':
      return delay.ms;
    case 'uniform':
      return delay.fromMs + random() * (delay.toMs - delay.fromMs);
    case 'exponential':
      return -delay.meanMs * Math.log(1 - random());
  }
}

/** Returns the time to wait for an answer. One answer in a million arrives later. */
export function answerLimitMs({ delay, loss }: Conditions): number {
  const spread = delay.kind === 'exponential' ? 10 : delay.kind === 'uniform' ? 2 : 1;
  const lostInRow = loss === 0 ? 0 : Math.ceil(Math.log(1e-6) / Math.log(loss));
  return meanDelayMs(delay) * (2 * spread + 2 * retryDelays * lostInRow);
}

/** Time after which a lost copy is sent again, in mean delays. Four mean delays are two round trips. */
export const retryDelays = 4;

/**
 * Returns TL. Without loss, the default is three times TA. With loss, the default is long enough that only
 * one false alarm per thousand periods is expected in the whole group.
 */
export function listenMs({ listenMs: given, announceMs, loss, nodes }: Conditions): number {
  if (given !== null) return given;
  const lostInRow = loss === 0 ? 0 : Math.log(1e-3 / nodes) / Math.log(loss);
  return announceMs * Math.max(3, Math.ceil(lostInRow));
}
