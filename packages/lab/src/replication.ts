/**
 * A replicated service over a wide area, as in section 5 of D. Becker, F. Junqueira, M. Serafini, Leader
 * Election for Replicated Services Using Application Scores (2011). A client sends a request to the server in
 * its data centre. This server forwards the request to the leader. The leader processes the request and waits
 * until a quorum has acknowledged it. The answer returns by the same route.
 *
 * Four values are assumptions that do not come from the paper: the leader's processing time, the variation of
 * the links, the size of a snapshot, and its transfer speed.
 */
import { builtInRules, prepareStrategy } from 'petrel/internals';
import { Events, ticks } from './events.js';
import { type Random, randomFrom } from './random.js';

/** Round trips between places, in milliseconds. */
const roundTripsMs: Readonly<Record<string, number>> = {
  'caltech slac': 9.88,
  'cern tud': 20.75,
  'fnal slac': 53.26,
  'caltech fnal': 77.06,
  'cern slac': 172.47,
};

export interface Deployment {
  readonly name: string;
  /** The locations of the data centres D1, D2 and so on, in this order. */
  readonly places: readonly string[];
  /**
   * The data centre of each remaining server: 1 for D1, 2 for D2, and so on. The fifth server, p5, was the
   * leader and crashed.
   */
  readonly servers: Readonly<Record<string, number>>;
}

const inThree = { p1: 3, p2: 2, p3: 2, p4: 1 };
export const deployments = {
  1: { name: 'deployment 1', places: ['caltech', 'slac', 'fnal'], servers: inThree },
  2: { name: 'deployment 2', places: ['slac', 'caltech', 'fnal'], servers: inThree },
  3: { name: 'deployment 3', places: ['slac', 'fnal', 'caltech'], servers: inThree },
  two: { name: 'two centres', places: ['tud', 'cern'], servers: { p1: 1, p2: 2, p3: 1, p4: 2 } },
} as const satisfies Record<string, Deployment>;

/** Number of servers, including the crashed server p5. */
const groupSize = 5;
const quorum = Math.floor(groupSize / 2) + 1;

export function roundTripMs({ places, servers }: Deployment, from: string, to: string): number {
  const [one = '', other = ''] = [from, to].map((server) => places[(servers[server] ?? 0) - 1]).toSorted();
  return one === other ? 0 : (roundTripsMs[`${one} ${other}`] ?? Number.NaN);
}

/**
 * Returns each server's share of the requests. The requests of a data centre are spread evenly over its
 * servers.
 */
export function sharesOf({ servers }: Deployment, loads: readonly number[]): ReadonlyMap<string, number> {
  const total = loads.reduce((sum, load) => sum + load, 0);
  const names = Object.keys(servers);
  return new Map(
    names.map((name) => {
      const neighbours = names.filter((other) => servers[other] === servers[name]).length;
      return [name, (loads[(servers[name] ?? 0) - 1] ?? 0) / total / neighbours];
    }),
  );
}

/**
 * Returns the remaining server that one of Petrel's strategies elects. All logs are equal, so the strategy
 * `history` elects the server with the highest id.
 */
export function electedBy(
  deployment: Deployment,
  strategy: string,
  loads: readonly number[],
  term = 1,
): string {
  const shares = sharesOf(deployment, loads);
  const names = Object.keys(deployment.servers).toSorted();
  const peers = names.map((node) => ({
    node,
    site: `D${deployment.servers[node]}`,
    scores: new Map([
      ['requests', shares.get(node) ?? 0],
      ['history', 1],
    ]),
    roundTripsMs: new Map(
      names.filter((other) => other !== node).map((other) => [other, roundTripMs(deployment, node, other)]),
    ),
  }));
  const candidates = peers.map(({ node, site, scores }) => {
    return { node, site, scores, priority: 100, sitePriority: 100, seat: 0, tags: {} };
  });
  const conditions = {
    after: 'failure' as const,
    failedSite: null,
    minuteOfDay: 0,
    registered: names.length,
    eligible: names.length,
    flags: [],
  };
  const prepared = prepareStrategy({ strategy, strategyOptions: {} }, builtInRules);
  const ranking = prepared.strategy?.rank({
    ...{ candidates, peers, conditions, term, incumbent: null, previous: { node: 'p5', site: 'D1' } },
  });
  return ranking?.[0]?.node ?? '';
}

export interface Service {
  readonly deployment: Deployment;
  /** Relative request rates of the data centres, starting with D1. */
  readonly loads: readonly number[];
  readonly leader: string;
  /** Time for which the leader works on each request. The leader works on one request at a time. */
  readonly workMs: number;
  readonly requestsPerS: number;
  readonly requests: number;
  /** Largest increase of a one-way delay, as a share of the delay. The increase is drawn for each message. */
  readonly jitter: number;
  readonly seed: number;
}

export const usualService = { workMs: 1, requestsPerS: 200, requests: 1500, jitter: 0.05, seed: 1 } as const;

export interface Waits {
  readonly meanMs: number;
  readonly worstMs: number;
}

export interface Served extends Waits {
  /**
   * Waiting times of the clients in each data centre, starting with D1. Null for a data centre without
   * clients.
   */
  readonly centres: readonly (Waits | null)[];
}

/** Simulates requests to a service. Returns the waiting times of its clients. */
export function serve(service: Service): Served {
  const waits = new Serving(service).run();
  const { places, servers } = service.deployment;
  const centres = places.map((_, index) => {
    return waits.filter(({ at }) => servers[at] === index + 1).map(({ ms }) => ms);
  });
  return {
    ...waitsOf(waits.map(({ ms }) => ms)),
    centres: centres.map((all) => (all.length === 0 ? null : waitsOf(all))),
  };
}

function waitsOf(all: readonly number[]): Waits {
  return { meanMs: all.reduce((sum, ms) => sum + ms, 0) / all.length, worstMs: Math.max(...all) };
}

/** Simulates one service and its requests. */
class Serving {
  readonly #service: Service;
  readonly #events = new Events();
  readonly #random: Random;
  readonly #waits: { at: string; ms: number }[] = [];
  #freeAt = 0;

  constructor(service: Service) {
    this.#service = service;
    this.#random = randomFrom(service.seed);
  }

  run(): readonly { readonly at: string; readonly ms: number }[] {
    const shares = [...sharesOf(this.#service.deployment, this.#service.loads)];
    let arrivalMs = 0;
    for (let request = 0; request < this.#service.requests; request += 1) {
      arrivalMs += (-Math.log(1 - this.#random.next()) * 1000) / this.#service.requestsPerS;
      const drawn = this.#random.next();
      let sum = 0;
      const [at = ''] =
        shares.find(([, share]) => {
          sum += share;
          return drawn < sum;
        }) ?? [];
      this.#events.plan(ticks(arrivalMs), 'arrival', () => this.#request(at));
    }
    while (this.#events.nextAt < Number.POSITIVE_INFINITY) this.#events.step();
    return this.#waits;
  }

  #request(at: string): void {
    const { leader } = this.#service;
    const requestedAt = this.#events.nowMs;
    this.#after(this.#wayMs(at, leader), () => {
      this.#freeAt = Math.max(this.#freeAt, this.#events.nowMs) + this.#service.workMs;
      this.#after(this.#freeAt - this.#events.nowMs, () => this.#replicate(at, requestedAt));
    });
  }

  #replicate(at: string, requestedAt: number): void {
    const { leader, deployment } = this.#service;
    let acknowledged = 0;
    const acknowledge = () => {
      acknowledged += 1;
      if (acknowledged !== quorum) return;
      this.#after(this.#wayMs(leader, at), () => {
        this.#waits.push({ at, ms: this.#events.nowMs - requestedAt });
      });
    };
    acknowledge();
    for (const follower of Object.keys(deployment.servers)) {
      if (follower !== leader)
        this.#after(this.#wayMs(leader, follower) + this.#wayMs(follower, leader), acknowledge);
    }
  }

  #wayMs(from: string, to: string): number {
    const { deployment, jitter } = this.#service;
    return (roundTripMs(deployment, from, to) / 2) * (1 + this.#random.next() * jitter);
  }

  #after(ms: number, run: () => void): void {
    this.#events.plan(this.#events.now + ticks(ms), 'arrival', run);
  }
}

export interface Recovery {
  /**
   * The election timer T of Algorithm 1. Every election waits for this timer, because the crashed leader
   * sends no proposal.
   */
  readonly electionMs: number;
  readonly snapshotBytes: number;
  readonly bandwidthBytesPerS: number;
  /** Largest number of unacknowledged bytes on a connection. */
  readonly windowBytes: number;
}

export const usualRecovery = {
  electionMs: 200,
  snapshotBytes: 10 * 2 ** 20,
  bandwidthBytesPerS: 12.5e6,
  windowBytes: 2 ** 18,
} as const;

/**
 * Returns, for each data centre, the time from the detection of the crash until the data centre's clients are
 * served again. This time includes the proposals and votes of all remaining servers (Algorithm 1), and a
 * snapshot from the new leader to each follower. A quorum must have received the snapshot, and so must the
 * data centre's own server.
 */
export function recoveryMs(
  deployment: Deployment,
  leader: string,
  given: Recovery = usualRecovery,
): number[] {
  const names = Object.keys(deployment.servers);
  const wayMs = (from: string, to: string) => roundTripMs(deployment, from, to) / 2;
  const decidedMs = (at: string) => nth(names.map((other) => wayMs(other, at))) + given.electionMs;
  const votesMs = (at: string) => names.map((other) => decidedMs(other) + wayMs(other, at));
  const followsMs = (at: string) => Math.max(nth(votesMs(at)), decidedMs(leader) + wayMs(leader, at));
  const hasStateMs = (at: string) => {
    const tripMs = roundTripMs(deployment, leader, at);
    const requestedMs = Math.max(followsMs(at) + tripMs / 2, followsMs(leader));
    const isOwn = at === leader;
    return isOwn ? followsMs(leader) : requestedMs + tripMs / 2 + transferMs(tripMs, given);
  };
  const readyMs = nth(names.map((at) => hasStateMs(at) + (at === leader ? 0 : wayMs(at, leader))));
  return deployment.places.map((_, index) => {
    const own = names.filter((name) => deployment.servers[name] === index + 1);
    const served = own.map((at) => Math.max(hasStateMs(at), readyMs + wayMs(leader, at)));
    return served.reduce((sum, ms) => sum + ms, 0) / served.length;
  });
}

/** Returns the instant at which a quorum is complete, given one instant for each server. */
function nth(instants: readonly number[]): number {
  return instants.toSorted((a, b) => a - b)[quorum - 1] ?? Number.NaN;
}

/**
 * Returns the transfer time of a snapshot. The transfer is limited by the link's bandwidth, or by one window
 * per round trip if that is slower.
 */
function transferMs(tripMs: number, given: Recovery): number {
  const byWindow = tripMs === 0 ? Number.POSITIVE_INFINITY : (given.windowBytes / tripMs) * 1000;
  return (given.snapshotBytes / Math.min(given.bandwidthBytesPerS, byWindow)) * 1000;
}
