/**
 * Uses round-trip times to estimate how each candidate would perform as the leader: how fast a quorum would
 * answer it, and how far away its clients would be. Follows Becker, Junqueira and Serafini, *Leader Election
 * for Replicated Services Using Application Scores* (2011). Equations 1 and 2 of that paper are applied to
 * round-trip times. Clients are assumed to be next to the node that they send requests to.
 */
import { present } from '../src/errors.js';
import type { Peer, StrategyInput } from '../src/model/strategy.js';
import { kthSmallest } from './select.js';

export interface Survey {
  readonly quorum: {
    /** Size of a quorum, including the leader. `of` is the size of the group. */
    readonly needs: number;
    readonly of: number;
    /** Number of nodes with a known round-trip time, including the candidate itself. */
    readonly reached: number;
    /**
     * Time until the slowest node of the fastest quorum answers. Null if too few round-trip times are known.
     */
    readonly ms: number | null;
  };
  /** Average round-trip time of a request to the leader, over all incoming requests. */
  readonly clients: { readonly ms: number | null; readonly missing: readonly string[] };
  readonly farthest: { readonly ms: number; readonly node: string; readonly missing: readonly string[] };
  /**
   * Whether no node reports its rate of requests. If so, every node is assumed to receive the same number of
   * requests.
   */
  readonly isLoadUnknown: boolean;
}

interface SurveyOptions {
  readonly size?: number | undefined;
  /** Name of the score for a node's rate of requests. */
  readonly load: string;
}

type ConstraintContext = Pick<StrategyInput<unknown>, 'candidates' | 'peers' | 'previous'>;

/**
 * Returns the known size of the group. This is the number of registered nodes, plus the last leader if it is
 * not registered. In that case, this election takes place because the last leader crashed. Other nodes that
 * are down are not counted.
 */
function groupSize({ peers, previous }: ConstraintContext): number {
  const isMissing = previous !== null && !peers.some(({ node }) => node === previous.node);
  return Math.max(1, peers.length + (isMissing ? 1 : 0));
}

/**
 * Returns the survey of every candidate, keyed by node id. The running time is linear in the number of
 * round-trip times.
 */
export function survey(input: ConstraintContext, { size, load }: SurveyOptions): ReadonlyMap<string, Survey> {
  const peers = withCandidates(input);
  const places = new Map(peers.map(({ node }, index) => [node, index]));
  const shares = sharesOf(peers, load);
  const of = size ?? groupSize(input);
  const needs = Math.floor(of / 2) + 1;
  const tripsMs = new Float64Array(peers.length);
  const knownMs = new Float64Array(peers.length);
  return new Map(
    input.candidates.map(({ node }) => {
      fillTrips(tripsMs, node, peers, places);
      const reached = gatherKnown(tripsMs, knownMs);
      const ms = reached < needs ? null : kthSmallest(knownMs.subarray(0, reached), needs);
      return [
        node,
        {
          quorum: { needs, of, reached, ms },
          clients: clientsOf(tripsMs, shares, peers),
          farthest: farthestOf(tripsMs, node, peers),
          isLoadUnknown: shares.isUnknown,
        },
      ];
    }),
  );
}

const silent: Pick<Peer, 'scores' | 'roundTripsMs'> = { scores: new Map(), roundTripsMs: new Map() };

function withCandidates({ candidates, peers }: ConstraintContext): Peer[] {
  const listed = new Set(peers.map(({ node }) => node));
  const others = candidates.filter(({ node }) => !listed.has(node));
  return [...peers, ...others.map(({ node, site }) => ({ ...silent, node, site }))];
}

/**
 * Fills in the round-trip times between `node` and each peer. Uses the measurement by `node`. If `node` has
 * none, uses the peer's measurement. A time is NaN if neither node has one.
 */
function fillTrips(
  tripsMs: Float64Array,
  node: string,
  peers: readonly Peer[],
  places: ReadonlyMap<string, number>,
): void {
  tripsMs.fill(Number.NaN);
  const own = present(places.get(node), `the candidate ${node}`);
  // A report lists peers in the order of their ids, as `peers` does. Most positions therefore need no lookup.
  let next = 0;
  peers[own]?.roundTripsMs.forEach((ms, peer) => {
    const place = peers[next]?.node === peer ? next : places.get(peer);
    if (place === undefined) return;
    tripsMs[place] = ms;
    next = place + 1;
  });
  for (let place = 0; place < tripsMs.length; place++) {
    if (Number.isNaN(tripsMs[place])) tripsMs[place] = peers[place]?.roundTripsMs.get(node) ?? Number.NaN;
  }
  tripsMs[own] = 0;
}

/** Copies the known round-trip times, and returns their number. */
function gatherKnown(tripsMs: Float64Array, knownMs: Float64Array): number {
  let count = 0;
  for (let place = 0; place < tripsMs.length; place++) {
    const ms = tripsMs[place] ?? Number.NaN;
    if (Number.isNaN(ms)) continue;
    knownMs[count] = ms;
    count += 1;
  }
  return count;
}

export interface Shares {
  /** Shares of all requests, in the order of the peers. */
  readonly of: Float64Array;
  readonly isUnknown: boolean;
}

export function sharesOf(peers: readonly Peer[], load: string): Shares {
  const rates = Float64Array.from(peers, ({ scores }) => Math.max(0, Number(scores.get(load) ?? 0)));
  const most = rates.reduce((a, b) => Math.max(a, b), 0);
  if (most === 0) return { of: rates.fill(1 / peers.length), isUnknown: true };
  // Divide by the highest rate first, because the sum of the reported rates may overflow.
  const relative = rates.map((rate) => rate / most);
  const total = relative.reduce((a, b) => a + b, 0);
  return { of: relative.map((rate) => rate / total), isUnknown: false };
}

function clientsOf(tripsMs: Float64Array, { of }: Shares, peers: readonly Peer[]): Survey['clients'] {
  const missing: string[] = [];
  let sumMs = 0;
  let reached = 0;
  for (let place = 0; place < tripsMs.length; place++) {
    const ms = tripsMs[place] ?? Number.NaN;
    const share = of[place] ?? 0;
    if (share === 0) continue;
    if (Number.isNaN(ms)) {
      missing.push(present(peers[place], 'a peer').node);
      continue;
    }
    sumMs += share * ms;
    reached += share;
  }
  if (missing.length === 0) return { ms: sumMs, missing };
  return { ms: reached === 0 ? null : sumMs / reached, missing };
}

function farthestOf(tripsMs: Float64Array, own: string, peers: readonly Peer[]): Survey['farthest'] {
  const missing: string[] = [];
  let farthestMs = 0;
  let node = own;
  for (let place = 0; place < tripsMs.length; place++) {
    const ms = tripsMs[place] ?? Number.NaN;
    if (Number.isNaN(ms)) missing.push(present(peers[place], 'a peer').node);
    if (!(ms > farthestMs)) continue;
    farthestMs = ms;
    ({ node } = present(peers[place], 'a peer'));
  }
  return { ms: farthestMs, node, missing };
}
