/** Builds agent responses for tests. A test passes only the fields that matter to it. */
import type { NodeStatus, SiteStatus, Status, Transition } from '../../packages/page/src/schemas.js';

export type Leader = NonNullable<Status['leader']>;

export function leader(change: Partial<Leader> = {}): Leader {
  return {
    node: 'a1',
    site: 'a',
    status: 'READY',
    term: 1,
    fencingToken: '42',
    since: '2026-01-01T00:00:00.000Z',
    ...change,
  };
}

/** Builds the status of a node. Its site is its name without digits, so a1 is in site a. */
export function node(name: string, change: Partial<NodeStatus> = {}): NodeStatus {
  return {
    node: name,
    site: name.replace(/\d+$/, ''),
    host: `host-${name}`,
    pid: 1,
    roles: [],
    state: 'STANDBY',
    priority: 100,
    score: null,
    scores: {},
    slot: null,
    seat: 1,
    eligible: true,
    reasons: [],
    ...change,
  };
}

export function site(name: string, change: Partial<SiteStatus> = {}): SiteStatus {
  return { site: name, priority: 100, drained: null, failed: null, override: null, ...change };
}

export function transition(change: Partial<Transition> = {}): Transition {
  return {
    term: 2,
    phase: 'taking-over',
    node: 'b1',
    to: 'b1',
    since: '2026-01-01T00:00:00.000Z',
    elapsedMs: 0,
    limitMs: 60_000,
    ...change,
  };
}

/** Builds the status of a group. By default, a1 leads and b1 is on standby. */
export function status(change: Partial<Status> = {}): Status {
  const built = withoutSlots(change);
  const { elected, leader: leads, transition: underWay, preferred } = built;
  const first = { slot: 1, elected, leader: leads, transition: underWay, preferred };
  return { ...built, leaders: change.leaders ?? [first] };
}

function withoutSlots(change: Partial<Status>): Omit<Status, 'leaders'> {
  return {
    asOf: '2026-01-01T00:01:00.000Z',
    root: '/cluster',
    strategy: 'site-priority',
    paused: null,
    elector: 'a1',
    elected: { node: 'a1', term: 1, reason: 'site a has priority 100' },
    leader: leader(),
    transition: null,
    switchover: null,
    preferred: null,
    successor: null,
    sites: [site('a'), site('b', { priority: 50 })],
    nodes: [node('a1', { roles: ['elector', 'leader'], state: 'READY', seat: 0 }), node('b1')],
    problems: [],
    ...change,
  };
}
