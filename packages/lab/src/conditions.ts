/** Under what an election is run: how many nodes, over what network, and what happens to them. */
import * as z from 'zod';

/** How long a message is under way. */
export const delaySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('constant'), ms: z.number().positive() }),
  z.object({ kind: z.literal('uniform'), fromMs: z.number().min(0), toMs: z.number().positive() }),
  z.object({ kind: z.literal('exponential'), meanMs: z.number().positive() }),
]);
export type Delay = z.infer<typeof delaySchema>;

export const scenarios = ['start', 'crash', 'bye', 'alarm', 'join', 'restart', 'midway'] as const;
/**
 * start: all begin at once. The others begin when all have agreed and some calm has passed: the leader
 * crashes; it says that it leaves; a follower wrongly believes it dead; a node joins late; the leader crashes
 * and comes back without a memory. midway: as start, but the node numbered highest crashes within the time in
 * which a message could go round all: where elections are as long as that, while it goes on.
 */
export type Scenario = (typeof scenarios)[number];

export const conditionsSchema = z.object({
  nodes: z.int().min(1).max(10_000),
  scenario: z.enum(scenarios).default('start'),
  delay: delaySchema.default({ kind: 'constant', ms: 10 }),
  /** The probability that a copy of a message is lost. */
  loss: z.number().min(0).max(0.95).default(0),
  /** A multicast is lost to all its receivers or to none. */
  correlated: z.boolean().default(false),
  /** How numbers lie on the ring: as they were drawn, rising or falling in the direction of the messages. */
  order: z.enum(['random', 'rising', 'falling']).default('random'),
  /**
   * Who begins, in elections that a few may begin: all, so many drawn at random, or the one numbered highest
   * or its successor.
   */
  initiators: z
    .union([z.literal('all'), z.literal('highest'), z.literal('after-highest'), z.int().min(1)])
    .default('all'),
  /** Who learns of a crash first; `all` at once. */
  noticedBy: z.enum(['all', 'lowest', 'highest']).default('all'),
  /** The number of who joins late. */
  joiner: z.enum(['highest', 'lowest']).default('highest'),
  /** TA: between two announcements of a leader, or two renewals of what is held. */
  announceMs: z.number().positive().default(1000),
  /** TL: without an announcement for so long a leader is given up; null: long enough for the loss. */
  listenMs: z.number().positive().nullable().default(null),
  /** TS: how long at most one waits before it announces itself. */
  suppressMs: z.number().positive().default(1000),
  /** From a crash to its being known: by a failure detector, or as a session's timeout. */
  detectMs: z.number().positive().default(3000),
  /** The probability that a node never learns of a crash. */
  missed: z.number().min(0).max(1).default(0),
  /** How often a second somebody is believed dead who is not, for `detectMs`. */
  mistakesPerS: z.number().min(0).default(0),
  /** How long the leader is away in `restart`. */
  awayMs: z.number().positive().default(1000),
  /** Simulated time after which an election that does not end is given up. */
  limitMs: z.number().positive().default(600_000),
});
export type Conditions = z.infer<typeof conditionsSchema>;

/** Throws a ZodError. */
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
 * How long a message is under way, of which every copy that is lost is sent again; `copies`: how many it
 * took.
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

/** How long to wait for an answer that is nearly always there: one in a million comes later. */
export function answerLimitMs({ delay, loss }: Conditions): number {
  const spread = delay.kind === 'exponential' ? 10 : delay.kind === 'uniform' ? 2 : 1;
  const lostInRow = loss === 0 ? 0 : Math.ceil(Math.log(1e-6) / Math.log(loss));
  return meanDelayMs(delay) * (2 * spread + 2 * retryDelays * lostInRow);
}

/** A lost copy is sent again after so many mean delays: two round trips. */
export const retryDelays = 4;

/**
 * Three announcements; with loss so many that a false alarm anywhere in the group is expected once in a
 * thousand periods.
 */
export function listenMs({ listenMs: given, announceMs, loss, nodes }: Conditions): number {
  if (given !== null) return given;
  const lostInRow = loss === 0 ? 0 : Math.log(1e-3 / nodes) / Math.log(loss);
  return announceMs * Math.max(3, Math.ceil(lostInRow));
}
