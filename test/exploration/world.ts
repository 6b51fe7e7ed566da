/**
 * A whole group as one immutable value: the ensemble's data, each agent's position in its loop, what is
 * running on each machine, and how many faults remain. A step makes a new world from an existing one. Both
 * worlds share everything that did not change.
 *
 * The decisions and their types are not here but in `src/core`.
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
  type Successor,
} from '../../src/model/znodes.js';
import type { ReadyStrategy } from '../../strategies/index.js';
import { config, epoch0Ms, registration, strategyOf, versioned } from '../core/builders.js';

export interface Seat {
  readonly id: number;
  readonly node: string;
  readonly owner: SessionId;
}

/** The znodes of the group. Null means that a znode has been deleted. */
export interface Tree {
  readonly config: Versioned<GroupConfig> | null;
  readonly elected: Versioned<Elected> | null;
  readonly current: Claim | null;
  readonly history: Versioned<HistoryHead> | null;
  /** The published successor. Undefined if the electors of this scenario publish none. */
  readonly successor?: Versioned<Successor> | null | undefined;
  /** Registered nodes. The positions of their seats are in `seats`. */
  readonly members: readonly Member[];
  /** Seats in ascending order. */
  readonly seats: readonly Seat[];
}

/** A tree of which nothing has been read, or of which nothing is left. */
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
  | { readonly check: 'successor'; readonly version: number }
  | { readonly check: 'member'; readonly node: string; readonly version: number };

export type Operation =
  | Check
  | { readonly set: 'elected'; readonly value: Elected; readonly version: number }
  /** Creates the znode if the version is null. */
  | { readonly set: 'successor'; readonly value: Successor; readonly version: number | null }
  | { readonly set: 'history'; readonly value: HistoryHead; readonly version: number }
  | { readonly set: 'config'; readonly value: GroupConfig; readonly version: number }
  | { readonly set: 'current'; readonly value: ClaimContent; readonly version: number }
  /** Notifies the seat's node. */
  | { readonly set: 'seat'; readonly id: number }
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

/**
 * Purpose of a write. The purpose determines how the agent handles the reply, and which conditions must be
 * true when the write is applied.
 */
export type Purpose =
  | {
      /** A claim after a decision, or together with this node's own decision. */
      readonly for: 'claim' | 'decide-and-claim';
      readonly elected: Elected;
      readonly electedVersion: number;
      /** What the node has read, and what it has decided. */
      readonly view: Tree;
    }
  | {
      readonly for: 'adopt';
      readonly elected: Elected;
      readonly electedVersion: number;
      readonly token: bigint;
    }
  | { readonly for: 'ready'; readonly elected: Elected }
  | { readonly for: 'give-away'; readonly failedUnder: number | null }
  | { readonly for: 'hand-over'; readonly decision: Elected }
  | {
      readonly for:
        | 'elected'
        | 'record'
        | 'publish-successor'
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

/**
 * The actions that remain in an elector's round. If an action is a write, the next action must wait for the
 * reply.
 */
export interface Rest {
  readonly actions: readonly ElectorAction[];
  readonly view: Tree;
}

/** Position of an agent in its loop. */
export type Round =
  | { readonly at: 'asleep' }
  /** The agent has read the first `done` parts of `view` and is about to read the next part. */
  | { readonly at: 'reading'; readonly done: number; readonly view: Tree }
  | { readonly at: 'read'; readonly view: Tree }
  | { readonly at: 'sent'; readonly request: Request; readonly rest: Rest | null }
  | {
      readonly at: 'answered';
      readonly request: Request;
      readonly rest: Rest | null;
      /** The reply. Null if a check failed and nothing was written. */
      readonly answer: Answer | null;
    };

export interface Answer {
  readonly token: bigint;
  readonly seat: number | null;
}

export interface Hook {
  readonly phase: 'takeover' | 'release';
  /** Time limit of the hook. */
  readonly untilMs: number;
  /**
   * State of the hook. A hook that `hangs` ends at its time limit. A `stuck` hook cannot be killed even then.
   */
  readonly state: 'runs' | 'hangs' | 'stuck';
}

export interface FenceRun {
  readonly fence: Fence;
  readonly untilMs: number;
  /** Whether the target has been killed. */
  readonly hit: boolean;
}

/**
 * Amount of the tree that an agent reads. A standby (0) reads least, an agent that is elected or leads (1)
 * reads more, and the elector (2) reads everything.
 */
export type Part = 0 | 1 | 2;

export interface Agent {
  /** Index among all agents. Machines with the same node id have different indexes. */
  readonly index: number;
  readonly node: string;
  /** Index among the machines that have this node id. */
  readonly host: number;
  readonly process: 'up' | 'down' | 'left';
  readonly frozen: boolean;
  /** Whether the agent is frozen for less than the length of a lease. */
  readonly stalls: boolean;
  /** Whether the agent is cut off from the ensemble. */
  readonly cut: boolean;
  readonly session: SessionId;
  readonly registered: boolean;
  /** The agent's seat, as far as the agent knows. Null if it has none. */
  readonly seat: number | null;
  readonly part: Part;
  /** Whether the agent's seat has been written to since the agent last read it. */
  readonly notified: boolean;
  /** The last view, if it names the agent as the published successor. Otherwise null. */
  readonly known: Tree | null;
  /** Whether a znode that the agent watches has changed, or the agent has another reason to read again. */
  readonly awake: boolean;
  readonly round: Round;
  readonly registration: Registration;
  readonly leadership: Leadership | null;
  /** The session that owns the leadership's claim. */
  readonly leadershipSession: SessionId;
  readonly spentToken: bigint;
  readonly failedUnder: number | null;
  /** Whether this leadership must not end by the prepared decision. */
  readonly handOverRefused: boolean;
  readonly hook: Hook | null;
  /** Token of the leadership whose workload may be alive on this machine. */
  readonly work: bigint | null;
  /**
   * State of the lease. `due` means that the release must begin. `over` means that everything that ran was
   * killed.
   */
  readonly lease: 'good' | 'due' | 'over';
  /** Whether the lease of this leadership has ended. Such a lease never starts again. */
  readonly leaseEnded: boolean;
  readonly memory: ElectorMemory;
  readonly clock: ClockReading;
  readonly wakeAtMs: number | null;
  readonly fencing: FenceRun | null;
  /**
   * Token of the claim that is being fenced. The token is kept until the hook may be tried again. Null if
   * there is none.
   */
  readonly fencingToken: bigint | null;
  /** Instant until which the leaving agent waits for a successor. Null if the agent is not leaving. */
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
  /** Difference of the ensemble's clock from the clock of the machines. */
  readonly skewMs: number;
  readonly tree: Tree;
  readonly agents: readonly Agent[];
  readonly sessions: readonly Session[];
  /** Writes that are under way although their sender has died or was cut off. */
  readonly adrift: readonly { readonly session: SessionId; readonly request: Request }[];
  /** Number of faults that may still happen. */
  readonly faults: number;
  /** Changes that have been made. Each change has one bit. */
  readonly changes: number;
  readonly lastSession: SessionId;
  readonly lastToken: bigint;
  readonly lastSeat: number;
  /**
   * Newest token under which any workload has been started. `newestTerm` is the newest term that has been
   * written to the tree.
   */
  readonly newestWork: bigint;
  readonly newestTerm: number;
  /**
   * Whether a claim was deleted by hand. Its owner may continue to lead until it notices the deletion. Until
   * then, only fencing tokens prevent harm.
   */
  readonly isClaimLost: boolean;
  /**
   * Number of times that leadership has moved since the last change, gift or fault. Counted only if the
   * scenario limits it.
   */
  readonly moves: number;
}

/** Parameters that remain constant during an exploration. */
export interface Setting {
  readonly config: GroupConfig;
  readonly strategies: readonly ReadyStrategy[];
  readonly canFence: boolean;
  readonly audits: boolean;
  readonly sessionTimeoutMs: number;
  /**
   * Whether sessions are shorter than every other time limit. As soon as time passes, the session of a silent
   * agent then ends.
   */
  readonly shortSessions: boolean;
  /** Whether the electors publish the successor. */
  readonly publishes: boolean;
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
    notified: false,
    known: null,
    awake: true,
    round: { at: 'asleep' },
    registration: registration(node, { incarnation: `life${session}`, host: `${node}-${host}` }),
    leadership: null,
    leadershipSession: 0n,
    spentToken: 0n,
    failedUnder: null,
    handOverRefused: false,
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

/**
 * Opens a new session for an agent whose session is over. The agent registers in the new session when it has
 * released what it began.
 */
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
      notified: false,
      known: null,
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

/** Returns a group whose nodes have joined and in which no node has been elected yet. */
export function newWorld(
  nodes: readonly string[],
  settings: GroupConfig,
  faults: number,
  publishes: boolean,
): World {
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
      ...(publishes ? { successor: null } : {}),
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
    publishes: false,
    ...rest,
  };
}

/**
 * Configuration of the explored groups. Every time limit is a multiple of one unit, so that many instants
 * coincide.
 */
export const settings = config({
  sites: { a: { priority: 100 }, b: { priority: 50 } },
  failback: 'manual',
  failbackHold: '10s',
  timeouts: { claim: '10s', prepare: '5s', takeover: '10s', release: '10s', fence: '10s', grace: '5s' },
  backoff: { base: '10s', max: '20s' },
});
