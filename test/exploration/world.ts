/**
 * A whole group as one immutable value: what the ensemble holds, where each agent stands in its loop, what
 * runs on each machine, and what is still allowed to go wrong. One step makes one world out of another; what
 * did not change is shared between them.
 *
 * The decisions are not here: they are `src/core`, and so are the types of what is decided on.
 */

import type { Fence } from '../../src/core/elector-memory.js';
import type { ClockReading } from '../../src/core/ensemble-clock.js';
import type { Leadership } from '../../src/core/leadership.js';
import { type ElectorAction, type ElectorMemory, newElector } from '../../src/core/round.js';
import type { GroupConfig } from '../../src/model/group-config.js';
import type { Registration } from '../../src/model/registration.js';
import type { Claim, Member, SessionId, Versioned } from '../../src/model/snapshot.js';
import {
  type ClaimContent,
  type Elected,
  type HistoryHead,
  initialElected,
  initialHistoryHead,
} from '../../src/model/znodes.js';
import type { ReadyStrategy } from '../../strategies/index.js';
import { config, epoch0Ms, registration, strategyOf, versioned } from '../core/builders.js';

export interface Seat {
  readonly id: number;
  readonly node: string;
  readonly owner: SessionId;
}

/** The znodes; null: deleted. */
export interface Tree {
  readonly config: Versioned<GroupConfig> | null;
  readonly elected: Versioned<Elected> | null;
  readonly current: Claim | null;
  readonly history: Versioned<HistoryHead> | null;
  /** Their places are found in `seats`. */
  readonly members: readonly Member[];
  /** In their order. */
  readonly seats: readonly Seat[];
}

/** Of which nothing was read yet, or nothing is left. */
export const unread: Tree = {
  config: null,
  elected: null,
  current: null,
  history: null,
  members: [],
  seats: [],
};

export type Znode = 'config' | 'elected' | 'current' | 'history' | 'members' | 'seats';

export type Check =
  | { readonly check: 'seat'; readonly id: number }
  | { readonly check: 'config'; readonly version: number }
  | { readonly check: 'elected'; readonly version: number }
  | { readonly check: 'current'; readonly version: number }
  | { readonly check: 'member'; readonly node: string; readonly version: number };

export type Operation =
  | Check
  | { readonly set: 'elected'; readonly value: Elected; readonly version: number }
  | { readonly set: 'history'; readonly value: HistoryHead; readonly version: number }
  | { readonly set: 'config'; readonly value: GroupConfig; readonly version: number }
  | { readonly set: 'current'; readonly value: ClaimContent; readonly version: number }
  | {
      readonly set: 'member';
      readonly node: string;
      readonly value: Registration;
      readonly version: number | null;
    }
  | { readonly create: 'current'; readonly value: ClaimContent }
  | { readonly create: 'member'; readonly value: Registration }
  | { readonly create: 'seat'; readonly node: string }
  | { readonly create: 'tree' }
  | { readonly delete: 'current'; readonly version: number }
  | { readonly delete: 'member'; readonly node: string; readonly version: number | null }
  | { readonly delete: 'seat'; readonly id: number };

/** Why a write is made: what is to be made of its answer, and what must hold when it is applied. */
export type Purpose =
  | { readonly for: 'claim'; readonly elected: Elected; readonly electedVersion: number; readonly view: Tree }
  | {
      readonly for: 'adopt';
      readonly elected: Elected;
      readonly electedVersion: number;
      readonly token: bigint;
    }
  | { readonly for: 'ready'; readonly elected: Elected }
  | { readonly for: 'give-away'; readonly failedUnder: number | null }
  | {
      readonly for:
        | 'elected'
        | 'record'
        | 'change-sites'
        | 'publish'
        | 'register'
        | 'tree'
        | 'unseat'
        | 'clock';
    }
  | { readonly for: 'seat' | 'give-up-seat' }
  | { readonly for: 'remove-fenced'; readonly fence: Fence };

export interface Request {
  readonly purpose: Purpose;
  readonly operations: readonly Operation[];
}

/** What is left to be done of an elector's round, one write after the other. */
export interface Rest {
  readonly actions: readonly ElectorAction[];
  readonly view: Tree;
}

/** Where an agent is in its loop. */
export type Round =
  | { readonly at: 'asleep' }
  /** Reads part after part; `done` parts of `view` have been read. */
  | { readonly at: 'reading'; readonly done: number; readonly view: Tree }
  | { readonly at: 'read'; readonly view: Tree }
  | { readonly at: 'sent'; readonly request: Request; readonly rest: Rest | null }
  | {
      readonly at: 'answered';
      readonly request: Request;
      readonly rest: Rest | null;
      /** Null: a check did not hold, nothing was written. */
      readonly answer: Answer | null;
    };

export interface Answer {
  readonly token: bigint;
  readonly seat: number | null;
}

export interface Hook {
  readonly phase: 'takeover' | 'release';
  /** Its time limit. */
  readonly untilMs: number;
  /** Hangs until its time limit; `stuck`: cannot even be killed then. */
  readonly state: 'runs' | 'hangs' | 'stuck';
}

export interface FenceRun {
  readonly fence: Fence;
  readonly untilMs: number;
  /** The target was killed already. */
  readonly hit: boolean;
}

/** standby, involved or elector: how much it reads. */
export type Part = 0 | 1 | 2;

export interface Agent {
  /** Two machines may carry the same node id. */
  readonly index: number;
  readonly node: string;
  /** Which of the machines that carry its name. */
  readonly host: number;
  readonly process: 'up' | 'down' | 'left';
  readonly frozen: boolean;
  /** Frozen for less than a lease. */
  readonly stalls: boolean;
  /** Cut off from the ensemble. */
  readonly cut: boolean;
  readonly session: SessionId;
  readonly registered: boolean;
  /** The seat that it knows of. */
  readonly seat: number | null;
  readonly part: Part;
  /** Something it watches has changed, or it has reason to look again. */
  readonly awake: boolean;
  readonly round: Round;
  readonly registration: Registration;
  readonly leadership: Leadership | null;
  /** The session that the claim of the leadership belongs to. */
  readonly leadershipSession: SessionId;
  readonly spentToken: bigint;
  readonly failedUnder: number | null;
  readonly hook: Hook | null;
  /** Token of the leadership whose workload may live on this machine. */
  readonly work: bigint | null;
  /** `due`: the release must begin; `over`: whatever ran was killed. */
  readonly lease: 'good' | 'due' | 'over';
  /** The lease of this leadership has passed: it is never revived. */
  readonly leaseEnded: boolean;
  readonly memory: ElectorMemory;
  readonly clock: ClockReading;
  readonly wakeAtMs: number | null;
  readonly fencing: FenceRun | null;
  /** The claim being fenced, until the hook may be tried again. */
  readonly fencingToken: bigint | null;
  /** It is leaving, and waits for a successor no longer than until then. */
  readonly drainUntilMs: number | null;
  readonly auditAtMs: number;
  readonly silent: {
    readonly electedVersion: number;
    readonly seat: number;
    readonly sinceMs: number;
  } | null;
}

export interface Session {
  readonly id: SessionId;
  readonly agent: number;
}

export interface World {
  readonly nowMs: number;
  /** The ensemble's clock against the machines' own. */
  readonly skewMs: number;
  readonly tree: Tree;
  readonly agents: readonly Agent[];
  readonly sessions: readonly Session[];
  /** Writes on their way whose sender is gone. */
  readonly adrift: readonly { readonly session: SessionId; readonly request: Request }[];
  /** How much more may go wrong. */
  readonly faults: number;
  /** Changes that have been made, a bit each. */
  readonly changes: number;
  readonly lastSession: SessionId;
  readonly lastToken: bigint;
  readonly lastSeat: number;
  /** Newest token under which anything was started, and newest term ever written. */
  readonly newestWork: bigint;
  readonly newestTerm: number;
  /** Somebody deleted a claim: its owner may go on until it sees that, and only tokens keep it from harm. */
  readonly isClaimLost: boolean;
  /**
   * How often leadership was moved since anything was done to the group; counted where a scenario limits it.
   */
  readonly moves: number;
}

/** What does not change during an exploration. */
export interface Setting {
  readonly config: GroupConfig;
  readonly strategies: readonly ReadyStrategy[];
  readonly canFence: boolean;
  readonly audits: boolean;
  readonly sessionTimeoutMs: number;
  /**
   * Sessions are shorter than every other time limit: who gives no sign of life has none left when time has
   * passed.
   */
  readonly shortSessions: boolean;
}

export const unit = 10_000;

export function site(node: string): string {
  return node.replace(/\d+$/, '');
}

export function newAgent(index: number, node: string, session: SessionId, host = 0): Agent {
  return {
    index,
    node,
    host,
    process: 'up',
    frozen: false,
    stalls: false,
    cut: false,
    session,
    registered: false,
    seat: null,
    part: 0,
    awake: true,
    round: { at: 'asleep' },
    registration: registration(node, { incarnation: `life${session}`, host: `${node}-${host}` }),
    leadership: null,
    leadershipSession: 0n,
    spentToken: 0n,
    failedUnder: null,
    hook: null,
    work: null,
    lease: 'good',
    leaseEnded: false,
    memory: newElector,
    clock: { epochMs: epoch0Ms, atMs: 0 },
    wakeAtMs: null,
    fencing: null,
    fencingToken: null,
    drainUntilMs: null,
    auditAtMs: 0,
    silent: null,
  };
}

/** An agent whose session is over opens another, and is to register in it, once what it began is released. */
export function newSession(world: World, { index }: Agent): World {
  const session = world.lastSession + 1n;
  const agents = world.agents.map((agent): Agent => {
    if (agent.index !== index) return agent;
    return {
      ...agent,
      session,
      registered: false,
      seat: null,
      part: 0,
      lease: 'good',
      leaseEnded: agent.leadership !== null,
      round: { at: 'asleep' },
      awake: true,
    };
  });
  return {
    ...world,
    agents,
    sessions: [...world.sessions, { id: session, agent: index }],
    lastSession: session,
  };
}

/** A group whose nodes have joined and where nobody was elected yet. */
export function newWorld(nodes: readonly string[], settings: GroupConfig, faults: number): World {
  const agents = nodes.map((node, index) => {
    const one = newAgent(index, node, BigInt(index + 1));
    return { ...one, registered: true, seat: index, part: index === 0 ? (2 as const) : (0 as const) };
  });
  return {
    nowMs: 0,
    skewMs: 0,
    tree: {
      config: versioned(settings, 0),
      elected: versioned(initialElected, 0),
      current: null,
      history: versioned(initialHistoryHead, 0),
      members: agents.map(({ node, registration: value, session: owner }) => ({
        ...versioned(value, 0),
        node,
        owner,
        seat: null,
      })),
      seats: agents.map(({ node, session: owner }, id) => ({ id, node, owner })),
    },
    agents,
    sessions: agents.map(({ session: id }, agent) => ({ id, agent })),
    adrift: [],
    faults,
    changes: 0,
    lastSession: BigInt(nodes.length),
    lastToken: 0n,
    lastSeat: nodes.length,
    newestWork: 0n,
    newestTerm: 0,
    isClaimLost: false,
    moves: 0,
  };
}

export function newSetting(
  config_: GroupConfig,
  change: Partial<Omit<Setting, 'config'>> & { readonly nodes: number },
): Setting {
  const { nodes, ...rest } = change;
  const strategy = strategyOf(config_);
  return {
    config: config_,
    strategies: Array.from({ length: nodes }, () => strategy),
    canFence: false,
    audits: false,
    sessionTimeoutMs: 4_000,
    shortSessions: false,
    ...rest,
  };
}

/** Every time limit is a multiple of one unit, so that instants fall together and there are few of them. */
export const settings = config({
  sites: { a: { priority: 100 }, b: { priority: 50 } },
  failback: 'manual',
  failbackHold: '10s',
  timeouts: { claim: '10s', prepare: '5s', takeover: '10s', release: '10s', fence: '10s', grace: '5s' },
  backoff: { base: '10s', max: '20s' },
});
