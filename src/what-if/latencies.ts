/**
 * Computes the latency that clients would have with each node as the leader. A client sends a request to its
 * own node, which forwards it to the leader. The leader answers once a quorum has the request (Becker et al.
 * 2011, section 3).
 */
import { sharesOf, survey } from '../../strategies/survey.js';
import { candidateOf, peerOf } from '../core/ranking.js';
import { readableConfig } from '../group/judge.js';
import type { Member } from '../model/snapshot.js';
import type { Peer } from '../model/strategy.js';
import type { Situation } from './situation.js';

/** Latencies in milliseconds. Null if too little is known. */
export interface Latencies {
  readonly quorumMs: number | null;
  readonly meanMs: number | null;
  readonly worstMs: number | null;
  /** Share of all requests that arrive at this node. */
  readonly share: number;
}

const shareDigits = 6;

/**
 * Latencies, keyed by node id. If `isLoadUnknown` is true, all nodes are assumed to receive the same number
 * of requests.
 */
export interface LatencyTable {
  readonly of: ReadonlyMap<string, Latencies>;
  readonly isLoadUnknown: boolean;
}

/** Returns the latencies of all remaining nodes (`left`). */
export function latencyTable(left: readonly Member[], situation: Situation): LatencyTable {
  const { view, nowMs, size, load } = situation;
  const config = readableConfig(view);
  const peers = left.flatMap(peerOf);
  const candidates = left.flatMap((member) => candidateOf(member, { config, epochMs: nowMs }));
  const surveys = survey({ candidates, peers, previous: null }, { size, load });
  const shares = sharesOf(peers, load);
  const of = peers.map(({ node }, place): [string, Latencies] => {
    const { quorum, clients, farthest } = surveys.get(node) ?? {};
    const quorumMs = quorum?.ms ?? null;
    const clientsMs = clients?.missing.length === 0 ? clients.ms : null;
    const farthestMs = farthest?.missing.length === 0 ? farthest.ms : null;
    return [
      node,
      {
        quorumMs: sumMs(quorumMs, 0),
        meanMs: sumMs(quorumMs, clientsMs),
        worstMs: sumMs(quorumMs, farthestMs),
        share: rounded(shares.of[place] ?? 0, shareDigits),
      },
    ];
  });
  return { of: new Map(of), isLoadUnknown: shares.isUnknown };
}

export interface SiteLatency {
  readonly site: string;
  /** Share of all requests that arrive at the site's nodes. */
  readonly share: number;
  readonly ms: number | null;
}

/**
 * Returns the mean latency of the clients at each site if `leader` leads. For a site without clients, returns
 * the mean latency of its nodes.
 */
export function siteLatencies(leader: string, left: readonly Member[], table: LatencyTable): SiteLatency[] {
  const peers = left.flatMap(peerOf);
  const own = peers.find(({ node }) => node === leader);
  const quorumMs = table.of.get(leader)?.quorumMs ?? null;
  const sites = new Map<string, { share: number; plain: number; weighted: number; nodes: number }>();
  for (const peer of peers) {
    const tripMs = own === undefined ? Number.NaN : roundTripMs(own, peer);
    const share = table.of.get(peer.node)?.share ?? 0;
    const sum = sites.get(peer.site) ?? { share: 0, plain: 0, weighted: 0, nodes: 0 };
    sum.share += share;
    sum.weighted += share * tripMs;
    sum.plain += tripMs;
    sum.nodes += 1;
    sites.set(peer.site, sum);
  }
  return [...sites].toSorted(byName).map(([site, { share, plain, weighted, nodes }]) => {
    const tripMs = share > 0 ? weighted / share : plain / nodes;
    return {
      site,
      share: rounded(share, shareDigits),
      ms: sumMs(quorumMs, Number.isNaN(tripMs) ? null : tripMs),
    };
  });
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

/**
 * Returns the round-trip time that strategies would use. This is the leader's measurement, or the peer's
 * measurement if the leader has none. Returns NaN if neither has one.
 */
function roundTripMs(leader: Peer, peer: Peer): number {
  if (leader.node === peer.node) return 0;
  return leader.roundTripsMs.get(peer.node) ?? peer.roundTripsMs.get(leader.node) ?? Number.NaN;
}

function sumMs(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : rounded(a + b);
}

/** Rounds to `digits` decimal places. In sums of fractions, further digits have no meaning. */
export function rounded(value: number, digits = 3): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
