/** Faults of the simulated world, and actions of operators: pure data, drawn from a seed. */
import type { Phase } from '../../src/ports/workload.js';
import type { Chance } from '../support/chance.js';
import type { Credentials } from './credentials.js';
import type { Mood } from './machine.js';

const written = ['registration', 'seat', 'claim', 'READY', 'deletion', 'decision', 'record'] as const;
export type Written = (typeof written)[number] | 'configuration' | 'removal';

export type Direction = 'both' | 'there' | 'back';

export type Fault =
  | {
      readonly kind: 'kill agent' | 'kill supervisor' | 'kill both' | 'power off';
      readonly node: number;
      readonly forMs: number;
    }
  | {
      readonly kind: 'freeze agent' | 'freeze supervisor' | 'freeze both';
      readonly node: number;
      readonly forMs: number;
    }
  /** Happens at the n-th call from the agent to the outside. */
  | {
      readonly kind: 'kill agent at a call' | 'freeze agent at a call' | 'kill supervisor at a call';
      readonly node: number;
      readonly calls: number;
      readonly forMs: number;
    }
  | { readonly kind: 'leave'; readonly node: number; readonly forMs: number }
  | {
      readonly kind: 'cut' | 'slow';
      readonly node: number;
      /** Index of the server. Null means all servers. */
      readonly server: number | null;
      readonly direction: Direction;
      readonly forMs: number;
    }
  | { readonly kind: 'reset'; readonly node: number; readonly forMs: number }
  /**
   * Commits the next write that `to` describes, but loses its reply together with the connection. If `node`
   * is null, the write may come from any node.
   */
  | {
      readonly kind: 'lose answer';
      readonly node: number | null;
      readonly to: Written;
      readonly forMs: number;
    }
  | {
      readonly kind: 'kill server' | 'freeze server' | 'cut server off';
      readonly server: number;
      readonly forMs: number;
    }
  /**
   * Isolates a node together with the server that it is connected to. Before the isolation, a stall delays
   * all messages from and to the node.
   */
  | {
      readonly kind: 'partition';
      /** Index of the node. Null means the leader, as soon as there is one. */
      readonly node: number | null;
      /**
       * Duration of the stall. 0 means that there is no stall, and that the unreachable servers refuse
       * connections immediately.
       */
      readonly stallMs: number;
      /** Time from the end of the stall to the partition. */
      readonly pauseMs: number;
      readonly forMs: number;
    }
  /**
   * Deposes the ensemble's leader, which does not notice it. After a pause, a node can reach no other server.
   */
  | { readonly kind: 'strand'; readonly node: number; readonly pauseMs: number; readonly forMs: number }
  | {
      readonly kind: 'hook';
      readonly node: number;
      readonly phase: Phase;
      readonly mood: Mood;
      readonly forMs: number;
    }
  | { readonly kind: 'unhealthy'; readonly node: number; readonly forMs: number }
  /** Loses the node's decisions and claims until long after all other faults have ended. */
  | { readonly kind: 'mute'; readonly node: number; readonly forMs: number }
  | { readonly kind: 'delete seat' | 'delete registration'; readonly node: number; readonly forMs: number }
  | {
      readonly kind:
        | 'delete tree'
        /** Lasts for `forMs`. A configuration that is created again during that time is deleted again. */
        | 'delete configuration';
      readonly forMs: number;
    }
  | {
      readonly kind: 'delete claim' | 'delete decision' | 'spoil decision';
      /** Slot to which the znode belongs. Undefined means the first slot. */
      readonly slot?: number;
      readonly forMs: number;
    }
  | { readonly kind: 'expire session'; readonly node: number; readonly forMs: number }
  /** Restarts a node with other credentials. It stops for `forMs`. */
  | (Credentials & { readonly kind: 'new credentials'; readonly node: number; readonly forMs: number })
  /** Remembers the ensemble's data, for a later restore. */
  | { readonly kind: 'back up'; readonly forMs: number }
  /**
   * Stops all servers, and starts them after `forMs` with the data of the backup, or without data. The stop
   * has to outlast all leases, because the restored servers do not know all sessions.
   */
  | { readonly kind: 'restore'; readonly from: 'backup' | 'nothing'; readonly forMs: number }
  /** Deletes the agents' chroot with everything in it. Creates an empty chroot after `forMs`. */
  | { readonly kind: 'delete chroot'; readonly forMs: number }
  /**
   * Lets the group have no more znodes than it has now, and of its records only `spare`. Nothing lifts the
   * quota.
   */
  | { readonly kind: 'quota'; readonly spare: number; readonly forMs: number }
  | { readonly kind: 'second machine'; readonly node: number; readonly forMs: number }
  | { readonly kind: 'people'; readonly act: Act; readonly forMs: number }
  /** Triggers another fault right after the next write that `write` describes. */
  | {
      readonly kind: 'upon';
      readonly write: Written;
      /** Index of the writing node. Null means any node. */
      readonly node: number | null;
      readonly delayMs: number;
      readonly befalls: Fault;
      readonly forMs: number;
    }
  /**
   * Delays the next write that `write` describes for the given time. Also delays everything that the write's
   * sender sends after it.
   */
  | {
      readonly kind: 'hold up';
      readonly write: Written;
      /** Index of the writing node. Null means any node. */
      readonly node: number | null;
      /** Fault that happens to the sender as soon as its write is delayed. */
      readonly meanwhile: Fault | null;
      readonly forMs: number;
    };

export type Act =
  | {
      readonly do: 'drain' | 'clear-failure' | 'evict' | 'evict dead';
      readonly node: number;
    }
  /** Action on one slot. Without `slot`, the operator names no slot, as in a group with one leader. */
  | { readonly do: 'switchover' | 'failover'; readonly node: number; readonly slot?: number }
  | { readonly do: 'switchover to the best'; readonly slot?: number }
  | { readonly do: 'pause' | 'resume' }
  /** Sets the ACLs of all znodes, with an agent's credentials. */
  | ({ readonly do: 'apply acl' } & Credentials)
  /** Lets fencing tokens start over, after a restore. */
  | { readonly do: 'raise token epoch' }
  | { readonly do: 'leaders'; readonly leaders: number }
  | { readonly do: 'spread'; readonly over: 'any-site' | 'another-site'; readonly strength: 'soft' | 'hard' }
  | {
      readonly do: 'priority';
      readonly site: number;
      readonly priority: number;
      readonly lastsMs: number | null;
    }
  | { readonly do: 'drain site' | 'mark site failed' | 'mark site healthy'; readonly site: number }
  /** Sets a strategy that no node knows. */
  | { readonly do: 'misconfigure' }
  | { readonly do: 'configure'; readonly strategy: string; readonly failback: string };

export interface PlannedFault {
  readonly atMs: number;
  readonly fault: Fault;
}

/** The parameters of a world for which faults are drawn. */
export interface Target {
  readonly nodes: number;
  readonly sites: number;
  readonly servers: number;
  readonly sessionTimeoutMs: number;
  readonly fromMs: number;
  readonly untilMs: number;
  /**
   * Whether to exclude faults that kill or lose any part of the group. Rules about prompt reactions can be
   * judged only without such faults.
   */
  readonly isGentle: boolean;
}

/** Returns a fault with all faults that it triggers. */
export function wholeOf(fault: Fault): Fault[] {
  const next = fault.kind === 'upon' ? fault.befalls : fault.kind === 'hold up' ? fault.meanwhile : null;
  return next === null ? [fault] : [fault, ...wholeOf(next)];
}

export function drawFaults(chance: Chance, target: Target): PlannedFault[] {
  const count = 1 + chance.upTo(6);
  let lastMs = target.fromMs;
  const faults = Array.from({ length: count }, () => {
    // Some faults follow right after the previous one, because faults seldom come alone.
    const isNext = chance.odds(0.3);
    lastMs = isNext ? lastMs + chance.between(0, 200) : chance.between(target.fromMs, target.untilMs);
    return { atMs: Math.round(lastMs), fault: drawFault(chance, target) };
  });
  if (chance.odds(0.35)) faults.push(drawHaste(chance, target), drawHaste(chance, target));
  const aimed = target.isGentle ? faults.map((one) => (chance.odds(0.5) ? atLeader(one) : one)) : faults;
  return aimed.sort((one, other) => one.atMs - other.atMs);
}

/**
 * Placeholders for a node's number. They stand for the node that leads, that elects, or that does neither
 * when the fault happens.
 */
export const whoLeads = -1;
export const whoElects = -2;
export const bystander = -3;
/** Placeholder for the number of the server that leads the ensemble when the fault happens. */
export const ensembleLeader = -1;
/** Placeholder for the number of the node that leads the last slot, if there are several slots. */
export const whoLeadsLast = -4;

/** Replaces each node number in a fault by the result of `indexOf`. */
export function aimed(fault: Fault, indexOf: (node: number) => number): Fault {
  switch (fault.kind) {
    case 'upon': {
      const { node, befalls } = fault;
      return { ...fault, node: node === null ? null : indexOf(node), befalls: aimed(befalls, indexOf) };
    }
    case 'hold up': {
      const { node, meanwhile } = fault;
      return {
        ...fault,
        node: node === null ? null : indexOf(node),
        meanwhile: meanwhile === null ? null : aimed(meanwhile, indexOf),
      };
    }
    case 'people': {
      const { act } = fault;
      return 'node' in act ? { ...fault, act: { ...act, node: indexOf(act.node) } } : fault;
    }
    default:
      return 'node' in fault && fault.node !== null ? { ...fault, node: indexOf(fault.node) } : fault;
  }
}

/** Aims the fault at the leader, because most faults of a standby cause no transition. */
function atLeader(planned: PlannedFault): PlannedFault {
  const { atMs, fault } = planned;
  switch (fault.kind) {
    case 'leave':
    case 'reset':
    case 'unhealthy':
      return { atMs, fault: { ...fault, node: whoLeads } };
    default:
      return planned;
  }
}

/** Draws an operator's action at the worst moment: while a decision about the same thing is under way. */
function drawHaste(chance: Chance, { nodes, sessionTimeoutMs, fromMs, untilMs }: Target): PlannedFault {
  const { pick, upTo, between } = chance;
  const node = upTo(nodes - 1);
  const act = pick<Act>([
    { do: 'failover', node },
    { do: 'failover', node },
    { do: 'drain', node },
    { do: 'pause' },
  ]);
  const upon = pick<Written>(['decision', 'claim', 'claim', 'configuration']);
  const delayMs = between(0, 0.04) * sessionTimeoutMs;
  return {
    atMs: Math.round(between(fromMs, untilMs)),
    fault: {
      kind: 'upon',
      write: upon,
      node: null,
      delayMs,
      befalls: { kind: 'people', act, forMs: 0 },
      forMs: sessionTimeoutMs,
    },
  };
}

/**
 * Every tenth seed plays one handover in which a process dies or freezes at a certain call. From one of these
 * seeds to the next, it happens one call later.
 */
export const sweepEvery = 10;
const callsOfOneHandover = 150;

export function sweepFaults(turn: number, { nodes, sessionTimeoutMs }: Target): PlannedFault[] {
  let left = turn;
  const take = (count: number) => {
    const taken = left % count;
    left = Math.floor(left / count);
    return taken;
  };
  const calls = take(callsOfOneHandover);
  const node = take(nodes);
  const kind = take(2) === 0 ? 'kill agent at a call' : 'freeze agent at a call';
  const cause = take(3);
  const forMs = sessionTimeoutMs * 1.5;
  const fault: Fault =
    cause === 0
      ? { kind: 'people', act: { do: 'switchover to the best' }, forMs: 0 }
      : { kind: cause === 1 ? 'leave' : 'kill agent', node: (node + 1) % nodes, forMs };
  const atMs = sessionTimeoutMs;
  return [
    { atMs, fault },
    { atMs, fault: { kind, node, calls, forMs } },
  ];
}

function drawFault(chance: Chance, target: Target): Fault {
  const { nodes, sites, servers, sessionTimeoutMs } = target;
  const { pick, odds, upTo, between } = chance;
  const node = upTo(nodes - 1);
  const server = upTo(servers - 1);
  // The duration is shorter than the session timeout, about as long, or much longer.
  const forMs = Math.round(sessionTimeoutMs * pick([between(0.05, 0.6), between(0.6, 1.4), between(1.4, 3)]));
  const ofAgents = () =>
    pick<Fault>([
      { kind: 'kill agent', node, forMs },
      { kind: 'kill agent', node, forMs },
      { kind: 'kill supervisor', node, forMs },
      { kind: 'kill both', node, forMs },
      { kind: 'power off', node, forMs },
      { kind: 'freeze agent', node, forMs },
      { kind: 'freeze agent', node, forMs },
      { kind: 'freeze supervisor', node, forMs },
      { kind: 'freeze both', node, forMs },
      { kind: 'kill agent at a call', node, calls: upTo(60), forMs },
      { kind: 'kill agent at a call', node, calls: upTo(60), forMs },
      { kind: 'freeze agent at a call', node, calls: upTo(60), forMs },
      { kind: 'freeze agent at a call', node, calls: upTo(60), forMs },
      { kind: 'kill supervisor at a call', node, calls: upTo(6), forMs },
      { kind: 'leave', node, forMs },
      { kind: 'second machine', node, forMs },
    ]);
  const ofAnswers = (): Fault => ({
    kind: 'lose answer',
    node: odds(0.7) ? null : node,
    to: pick(written),
    forMs,
  });
  const ofLinks = () =>
    pick<Fault>([
      { kind: 'cut', node, server: null, direction: pick(['both', 'there', 'back']), forMs },
      { kind: 'cut', node, server: null, direction: 'both', forMs },
      { kind: 'cut', node, server, direction: pick(['both', 'there', 'back']), forMs },
      { kind: 'slow', node, server: odds(0.5) ? null : server, direction: 'both', forMs },
      { kind: 'reset', node, forMs },
      { kind: 'expire session', node, forMs },
      ofAnswers(),
      ofAnswers(),
    ]);
  const ofPartition = (): Fault => ({
    kind: 'partition',
    node: odds(0.7) ? null : node,
    stallMs: odds(0.5) ? 0 : between(0.1, 0.3) * sessionTimeoutMs,
    pauseMs: between(0, 0.1) * sessionTimeoutMs,
    forMs: Math.max(forMs, 1.3 * sessionTimeoutMs),
  });
  const ofServers = () =>
    pick<Fault>([
      { kind: 'kill server', server, forMs },
      { kind: 'freeze server', server, forMs },
      { kind: 'cut server off', server, forMs },
      { kind: 'cut server off', server, forMs },
      ofPartition(),
      ofPartition(),
    ]);
  const ofGentle = () =>
    pick<Fault>([
      { kind: 'leave', node, forMs },
      { kind: 'reset', node, forMs },
      ofAnswers(),
      { kind: 'unhealthy', node, forMs },
      { kind: 'delete claim', forMs },
      { kind: 'delete seat', node, forMs },
      { kind: 'spoil decision', forMs },
      { kind: servers === 1 ? 'reset' : 'freeze server', node, server, forMs },
    ]);
  const ofHooks = (): Fault => ({
    kind: 'hook',
    node,
    phase: pick(['takeover', 'takeover', 'release', 'prepare', 'fence']),
    mood: pick(['slow', 'fails', 'headless', 'hangs', 'stubborn', 'undying']),
    forMs: 4 * forMs,
  });
  const ofHook = () =>
    odds(0.15) ? ({ ...ofHooks(), phase: 'takeover', mood: 'fatal' } as const) : ofHooks();
  const ofTree = () =>
    pick<Fault>([
      { kind: 'unhealthy', node, forMs },
      { kind: 'delete seat', node, forMs },
      { kind: 'delete seat', node, forMs },
      { kind: 'delete registration', node, forMs },
      { kind: 'delete claim', forMs },
      { kind: 'delete tree', forMs },
      { kind: 'delete decision', forMs },
      { kind: 'spoil decision', forMs },
      { kind: 'mute', node, forMs },
      { kind: 'mute', node, forMs },
    ]);
  const ofPeople = (): Fault => ({ kind: 'people', act: drawAct(chance, nodes, sites), forMs: 0 });
  if (target.isGentle) return pick([ofHook, ofHook, ofPeople, ofPeople, ofPeople, ofGentle])();
  const kinds = pick([
    ofAgents,
    ofAgents,
    ofAgents,
    ofLinks,
    ofLinks,
    ofServers,
    ofHook,
    ofPeople,
    ofPeople,
    ofTree,
  ]);
  return kinds();
}

function drawAct({ pick, upTo, odds }: Chance, nodes: number, sites: number): Act {
  const node = upTo(nodes - 1);
  const site = upTo(sites - 1);
  return pick<Act>([
    { do: 'switchover', node },
    { do: 'switchover', node },
    { do: 'switchover to the best' },
    { do: 'failover', node },
    { do: 'drain', node },
    { do: 'clear-failure', node },
    { do: 'evict', node },
    { do: 'evict dead', node },
    { do: 'pause' },
    { do: 'resume' },
    { do: 'priority', site, priority: pick([0, 10, 300]), lastsMs: odds(0.7) ? 500 + upTo(6000) : null },
    { do: 'drain site', site },
    { do: 'misconfigure' },
    {
      do: 'configure',
      strategy: pick(['site-priority', 'round-robin', 'oldest', 'first-available']),
      failback: pick(['auto', 'manual', 'after:2s']),
    },
  ]);
}

/** Names that replace the numbers in a fault's text. */
export interface Names {
  readonly nodes: readonly string[];
  readonly sites: readonly string[];
}

/** Formats a fault for display, with names and whole milliseconds. */
export function faultText({ atMs, fault }: PlannedFault, names: Names): string {
  return `${(atMs / 1000).toFixed(3)} s  ${textOf(fault, names)}`;
}

function textOf({ kind, ...rest }: Pick<Fault, 'kind'>, names: Names): string {
  return [kind, ...detailsOf(rest, names)].join(', ');
}

export function actText({ do: verb, ...rest }: Act, names: Names): string {
  return [verb, ...detailsOf(rest, names)].join(' ');
}

const roles: Readonly<Record<number, string>> = {
  [whoLeads]: 'the leader',
  [whoElects]: 'the elector',
  [bystander]: 'a node that does neither',
  [whoLeadsLast]: 'the last leader',
};

function detailsOf(details: object, names: Names): string[] {
  const texts = Object.entries(details).map(([name, value]: [string, unknown]) => {
    if (name === 'act') return isAct(value) ? actText(value, names) : '';
    if (name === 'befalls' || name === 'meanwhile')
      return isFault(value) ? `${name} (${textOf(value, names)})` : '';
    if (name === 'node' && typeof value === 'number') return names.nodes[value] ?? roles[value];
    if (name === 'node') return 'the next node';
    if (name === 'site') return typeof value === 'number' ? `site ${names.sites[value]}` : '';
    if (name === 'server') return serverText(value);
    if (!name.endsWith('Ms')) return `${name} ${value}`;
    const ms = typeof value === 'number' ? `${Math.round(value)} ms` : 'for good';
    return name === 'forMs' ? (value === 0 ? '' : `for ${ms}`) : `${name.slice(0, -2)} ${ms}`;
  });
  return texts.filter((text) => text !== undefined && text !== '').map(String);
}

function serverText(server: unknown): string {
  if (server === null) return 'every server';
  return server === ensembleLeader ? 'whichever server leads' : `server ${server}`;
}

function isFault(value: unknown): value is Fault {
  return typeof value === 'object' && value !== null && 'kind' in value;
}

function isAct(value: unknown): value is Act {
  return typeof value === 'object' && value !== null && 'do' in value;
}
