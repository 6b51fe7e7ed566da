/**
 * The deployments of Becker, Junqueira and Serafini, *Leader Election for Replicated Services Using
 * Application Scores* (2011). Each has five servers in two or three data centres. The server p5 was the
 * leader and has crashed.
 */

import { prepareStrategy } from '../../src/model/read-config.js';
import type { Score } from '../../src/model/scores.js';
import type { Candidate, Peer, Ranked, StrategyInput } from '../../strategies/index.js';
import { builtInRules } from '../../strategies/index.js';
import { ordinary } from '../core/builders.js';

/** Round trips between two places, in milliseconds. */
const linksMs: Readonly<Record<string, number>> = {
  'caltech slac': 9.88,
  'cern tud': 20.75,
  'fnal slac': 53.26,
  'caltech fnal': 77.06,
  'cern slac': 172.47,
};

export interface Deployment {
  /** Location of each data centre, in the order of their numbers. */
  readonly places: readonly string[];
  /** Number of each live server's data centre, starting with 1. */
  readonly servers: Readonly<Record<string, number>>;
}

const inThree = { p1: 3, p2: 2, p3: 2, p4: 1 };
export const deployments = {
  1: { places: ['caltech', 'slac', 'fnal'], servers: inThree },
  2: { places: ['slac', 'caltech', 'fnal'], servers: inThree },
  3: { places: ['slac', 'fnal', 'caltech'], servers: inThree },
  two: { places: ['tud', 'cern'], servers: { p1: 1, p2: 2, p3: 1, p4: 2 } },
} satisfies Record<string, Deployment>;

/**
 * Returns the input for a strategy. It has live nodes only, in the order of their ids, and all of them are
 * candidates.
 */
export function inputOf(
  nodes: Readonly<Record<string, { scores?: Record<string, Score>; roundTripsMs?: Record<string, number> }>>,
  rest: Partial<Omit<StrategyInput<unknown>, 'options'>> = {},
): Omit<StrategyInput<unknown>, 'options'> {
  const peers: Peer[] = Object.entries(nodes).map(([node, { scores = {}, roundTripsMs = {} }]) => ({
    node,
    site: 'a',
    scores: new Map(Object.entries(scores)),
    roundTripsMs: new Map(Object.entries(roundTripsMs)),
  }));
  const candidates: Candidate[] = peers.map(({ node, site, scores }) => {
    return { node, site, scores, priority: 100, sitePriority: 100, seat: 0, tags: {} };
  });
  return { candidates, peers, previous: null, incumbent: null, term: 1, conditions: ordinary, ...rest };
}

/**
 * Returns the input for an election in a deployment. `loads` is the request rate of each data centre. Its
 * live servers share the rate equally.
 */
export function electionIn(
  { places, servers }: Deployment,
  loads: readonly number[],
  rest: Partial<Omit<StrategyInput<unknown>, 'options'>> = {},
): Omit<StrategyInput<unknown>, 'options'> {
  const centres = Object.values(servers);
  const nodes = Object.entries(servers).map(([node, centre]) => {
    const others = Object.entries(servers).filter(([other]) => other !== node);
    const trips = others.map(([other, there]) => [other, linkMs(places[centre - 1], places[there - 1])]);
    const requests = (loads[centre - 1] ?? 0) / centres.filter((one) => one === centre).length;
    return [node, { scores: { requests, history: 42 }, roundTripsMs: Object.fromEntries(trips) }];
  });
  return inputOf(Object.fromEntries(nodes), { previous: { node: 'p5', site: 'D1' }, ...rest });
}

function linkMs(from = '', to = ''): number {
  return from === to ? 0 : (linksMs[[from, to].toSorted().join(' ')] ?? Number.NaN);
}

export function rankedBy(
  strategy: string,
  input: Omit<StrategyInput<unknown>, 'options'>,
  strategyOptions: Record<string, unknown> = {},
): readonly Ranked[] {
  const prepared = prepareStrategy({ strategy, strategyOptions }, builtInRules);
  if (prepared.strategy === null) throw new Error(prepared.problems.join());
  return prepared.strategy.rank(input);
}

export function scoresOf(ranking: readonly Ranked[]): Record<string, number | undefined> {
  return Object.fromEntries(ranking.map(({ node, score }) => [node, score]).toSorted());
}
