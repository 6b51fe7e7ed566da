/**
 * The parameters of a seed's world, such as the number of nodes and servers, the delays, and the group's
 * configuration. The parameters are pure data.
 */

import type { SequenceOverflow } from '../../src/embedded/tree.js';
import { type GroupConfig, groupConfigSchema } from '../../src/model/group-config.js';
import type { Chance } from '../support/chance.js';
import type { Delays } from './link.js';

/** The settings of a server that differ from the common ones. */
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
  /** Settings of servers that differ from the common ones, by server number. */
  readonly unlike: readonly ServerConfig[];
  readonly delays: Delays;
  /** Rates of the nodes' and servers' clocks relative to true time. Null if each rate is drawn. */
  readonly rates: { readonly nodes: number; readonly servers: number } | null;
  readonly overflow: SequenceOverflow;
  /** Sequence number of the first seat. Null means 0. */
  readonly sequence: number | null;
  /** Whether the group has ACLs, and its agents and operators have credentials. */
  readonly hasAccess: boolean;
  /** Number of the ensemble's first transaction. A rebuilt ensemble starts at 0. */
  readonly startZxid: bigint;
  /** The agents' chroot, such as `/base`. Empty if they have none. Operators never have one. */
  readonly chroot: string;
  /** Maximum deviation of the servers' wall clocks from true time. */
  readonly wallSkewMs: number;
  readonly hasPrepare: boolean;
  readonly hasFence: boolean;
  readonly hasMemory: boolean;
  readonly config: GroupConfig;
  /** Maximum number of leaders that the group has during the run. */
  readonly slots: number;
  /** Duration of the period with faults. It starts when the group is created. */
  readonly faultPeriodMs: number;
  /** Maximum number of times that a node may lose its lease. Null if the number is not judged. */
  readonly maxLeaseLosses: number | null;
  readonly checksPeace: boolean;
  /** Whether nothing is lost and hardly anything dies during the run. Deadlines are judged in such runs. */
  readonly isGentle: boolean;
}

/**
 * Whether all seats from some point on get the same sequence number. A new seat is then not the last in
 * order.
 */
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
      // With long sessions, a hook that kills its agent ends before the takeover timeout.
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
    startZxid: 0n,
    hasAccess: false,
    chroot: '',
    wallSkewMs: pick([0, 50, 5_000, 40_000]),
    hasPrepare: odds(0.3),
    hasFence: odds(0.4),
    hasMemory: odds(0.7),
    config,
    faultPeriodMs: Math.round(between(1.5, 3.5) * sessionTimeoutMs),
    slots: 1,
    maxLeaseLosses: null,
    checksPeace: odds(0.1),
    isGentle: odds(0.25),
  };
}
