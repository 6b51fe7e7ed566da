/**
 * Converts a deployment file to a group, as if the group had been read from ZooKeeper. The same code
 * therefore handles described groups and real ones. Every node is registered and healthy, and reports the
 * measurements that the file contains for it.
 */
import {
  builtInRules,
  type Claim,
  type Elected,
  type GroupView,
  groupConfigSchema,
  groupPaths,
  initialElected,
  initialHistoryHead,
  type Member,
  registrationSchema,
  requestsScore,
  toInstant,
  type Versioned,
} from 'petrel/internals';
import type { Deployment } from './deployment.js';
import { roundTripMs } from './round-trips.js';

/** The instant at which the group is evaluated. Nothing in the group depends on time. */
export const describedAtMs = 0;

/**
 * Converts a deployment to a group. Spreads the clients of each site over the site's nodes, but not over
 * nodes that are in `lost`. If all nodes of a site are lost, the site's clients are lost too.
 */
export function describedGroup(deployment: Deployment, lost: ReadonlySet<string>): GroupView {
  const { strategy, strategyOptions, sites } = deployment;
  const priorities = Object.entries(sites).map(([site, { priority }]) => [site, { priority }]);
  const config = groupConfigSchema.parse({
    strategy,
    strategyOptions,
    sites: Object.fromEntries(priorities),
  });
  const members = describedMembers(deployment, lost);
  return {
    paths: groupPaths('/'),
    rules: builtInRules,
    config: content(config),
    elected: content(decision(deployment)),
    current: claim(deployment, members),
    history: content(initialHistoryHead),
    members,
    seats: [],
    self: null,
    seat: null,
    problems: [],
    newestChangeMs: describedAtMs,
  };
}

function content<T>(value: T): Versioned<T> {
  return { value, problem: null, version: 0, modifiedAtMs: describedAtMs };
}

const incarnation = 'described';

function describedMembers({ sites, nodes }: Deployment, lost: ReadonlySet<string>): Member[] {
  const names = Object.keys(nodes).toSorted();
  const clients = requestsByNode({ sites, nodes }, lost);
  return Object.entries(nodes).map(([node, { site, priority, scores }], place) => {
    const registration = registrationSchema.parse({
      ...{ node, site, priority, incarnation, health: { ok: true, reason: null } },
      ...{ host: '', pid: 0, version: '', startedAt: toInstant(describedAtMs) },
    });
    const rate = clients.get(node);
    const values = new Map(Object.entries(scores));
    if (rate !== undefined) values.set(requestsScore, rate);
    const others = names.filter((name) => name !== node);
    const roundTripsMs = new Map(
      others.flatMap((name): [string, number][] => {
        const ms = roundTripMs({ sites, nodes }, node, name);
        return ms === undefined ? [] : [[name, ms]];
      }),
    );
    const report = { node, incarnation, values, roundTripsMs };
    return { ...content(registration), node, owner: BigInt(place + 1), seat: place, scores: report };
  });
}

function requestsByNode(
  { sites, nodes }: Pick<Deployment, 'sites' | 'nodes'>,
  lost: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  return new Map(
    Object.entries(sites).flatMap(([site, { requests }]) => {
      if (requests === undefined) return [];
      const takers = Object.keys(nodes).filter((node) => nodes[node]?.site === site && !lost.has(node));
      return takers.map((node): [string, number] => [node, requests / takers.length]);
    }),
  );
}

function decision({ nodes, leader, term, strategy }: Deployment): Elected {
  const site = leader === null ? null : (nodes[leader]?.site ?? null);
  return {
    ...initialElected,
    node: leader,
    site,
    term,
    strategy,
    cause: leader === null ? 'nobody' : 'first',
  };
}

function claim({ nodes, leader, term }: Deployment, members: readonly Member[]): Claim | null {
  const member = members.find(({ node }) => node === leader);
  if (leader === null || member === undefined) return null;
  const site = nodes[leader]?.site ?? '';
  const claimed = {
    node: leader,
    site,
    incarnation,
    status: 'READY',
    term,
    electedVersion: 0,
    resumes: null,
  } as const;
  return { ...content(claimed), token: 1n, owner: member.owner, createdAtMs: describedAtMs };
}
