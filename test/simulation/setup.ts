/**
 * The world that a seed has: how many nodes and servers, how fast, how the group is configured. Pure data.
 */

import type { SequenceOverflow } from '../../src/embedded/tree.js';
import { type GroupConfig, groupConfigSchema } from '../../src/model/group-config.js';
import type { Chance } from '../support/chance.js';
import type { Delays } from './link.js';

/** Where a server's configuration is its own. */
export interface ServerConfig {
  readonly tickMs?: number;
  readonly maxSessionTimeoutMs?: number;
}

export interface Setup {
  readonly nodes: readonly string[];
  readonly sites: readonly string[];
  readonly servers: number;
  readonly sessionTimeoutMs: number;
  readonly tickMs: number;
  /** Of servers that are configured otherwise than the rest; by their numbers. */
  readonly unlike: readonly ServerConfig[];
  readonly delays: Delays;
  /** How fast the clocks of nodes and servers go against true time; null: each as it is drawn. */
  readonly rates: { readonly nodes: number; readonly servers: number } | null;
  readonly overflow: SequenceOverflow;
  /** Where the seats' sequence begins; null: at 0. */
  readonly sequence: number | null;
  /** How far the servers' wall clocks are off, at most. */
  readonly wallSkewMs: number;
  readonly hasPrepare: boolean;
  readonly hasFence: boolean;
  readonly hasMemory: boolean;
  readonly config: GroupConfig;
  /** The most leaders that the group has at any time. */
  readonly slots: number;
  /** From the group's founding on. */
  readonly troubleMs: number;
  /** How often a node can lose its lease at most; null: that is not judged. */
  readonly maxLeaseLosses: number | null;
  readonly checksPeace: boolean;
  /** Nothing is lost and hardly anything dies: what has to happen soon is judged. */
  readonly isGentle: boolean;
}

/** Seats come to share the last number, and are not taken at the tail. */
export function sticks({ sequence, overflow }: Setup): boolean {
  return sequence !== null && overflow === 'sticks';
}

export const names = ['a1', 'b1', 'a2', 'b2', 'a3', 'b3', 'a4', 'b4'];

export function drawSetup({ pick, odds, between }: Chance): Setup {
  const nodeCount = pick([2, 2, 3, 3, 3, 3, 4, 4, 5, 8]);
  const sessionTimeoutMs = pick([2_000, 3_000, 4_000]);
  const config = groupConfigSchema.parse({
    strategy: pick(['site-priority', 'site-priority', 'round-robin', 'oldest', 'first-available']),
    sites: pick([{}, { a: { priority: 200 }, b: { priority: 100 } }]),
    failback: pick(['auto', 'manual', 'after:2s']),
    failbackHold: '1s',
    minLeadership: pick(['0s', '0s', '1s']),
    timeouts: {
      claim: '2s',
      prepare: '500ms',
      // Where sessions last long, what kills its agent is gone before its time is over.
      takeover: sessionTimeoutMs === 4_000 ? '6s' : '2s',
      release: '1500ms',
      fence: '1500ms',
      grace: '200ms',
    },
    backoff: { base: '1s', max: sessionTimeoutMs === 2_000 ? '2s' : '4s' },
    historySize: pick([3, 100]),
  });
  return {
    nodes: names.slice(0, nodeCount),
    sites: ['a', 'b'],
    servers: pick([1, 3]),
    sessionTimeoutMs,
    tickMs: sessionTimeoutMs / pick([2, 3, 4]),
    unlike: [],
    delays: pick([
      { leastMs: 0.2, mostMs: 2 },
      { leastMs: 1, mostMs: sessionTimeoutMs / 150 },
      { leastMs: 5, mostMs: sessionTimeoutMs / 80 },
    ]),
    rates: null,
    overflow: pick(['wraps', 'sticks']),
    sequence: odds(0.1) ? 2 ** 31 - 3 : null,
    wallSkewMs: pick([0, 50, 5_000, 40_000]),
    hasPrepare: odds(0.3),
    hasFence: odds(0.4),
    hasMemory: odds(0.7),
    config,
    troubleMs: Math.round(between(1.5, 3.5) * sessionTimeoutMs),
    slots: 1,
    maxLeaseLosses: null,
    checksPeace: odds(0.1),
    isGentle: odds(0.25),
  };
}
