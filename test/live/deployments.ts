/**
 * The deployments that Becker, Junqueira and Serafini used for their measurements (*Leader Election for
 * Replicated Services Using Application Scores*, Middleware 2011, section 5). Each specifies five servers in
 * two or three centres, the round-trip times between the centres, and the origins of the requests. The server
 * p5 was the leader and has crashed.
 */

export const servers = ['p1', 'p2', 'p3', 'p4', 'p5'] as const;
/** The servers that remain after the leader has crashed. */
export const survivors = ['p1', 'p2', 'p3', 'p4'] as const;

export interface Deployment {
  readonly name: string;
  /** Centre of each server. */
  readonly centres: Readonly<Record<string, string>>;
  /** Location of each centre, in the order of their numbers. */
  readonly places: readonly string[];
}

/** Round trips between two locations, in milliseconds. */
const roundTripsMs: Readonly<Record<string, number>> = {
  'caltech slac': 9.88,
  'cern tud': 20.75,
  'fnal slac': 53.26,
  'caltech fnal': 77.06,
};

const threeCentres = { p1: 'D3', p2: 'D2', p3: 'D2', p4: 'D1', p5: 'D1' };
const twoCentres = { p1: 'D1', p2: 'D2', p3: 'D1', p4: 'D2', p5: 'D2' };

export const deployments = {
  1: { name: 'deployment 1', centres: threeCentres, places: ['caltech', 'slac', 'fnal'] },
  2: { name: 'deployment 2', centres: threeCentres, places: ['slac', 'caltech', 'fnal'] },
  3: { name: 'deployment 3', centres: threeCentres, places: ['slac', 'fnal', 'caltech'] },
  two: { name: 'two centres', centres: twoCentres, places: ['tud', 'cern'] },
} satisfies Record<string, Deployment>;

export function roundTripMs({ centres, places }: Deployment, from: string, to: string): number {
  const [one = '', other = ''] = [from, to]
    .map((server) => placeOf(places, centres[server] ?? ''))
    .toSorted();
  return one === other ? 0 : (roundTripsMs[`${one} ${other}`] ?? Number.NaN);
}

function placeOf(places: readonly string[], centre: string): string {
  return places[Number(centre.slice(1)) - 1] ?? '';
}

/**
 * Distribution of the requests over the centres, in the order of their numbers. The remaining servers of a
 * centre share its requests equally.
 */
export type Load = readonly number[];

/** Returns the share of all requests that each server gets. */
export function shares({ centres }: Deployment, load: Load): ReadonlyMap<string, number> {
  const total = load.reduce((sum, part) => sum + part, 0);
  return new Map(
    survivors.map((server) => {
      const neighbours = survivors.filter((other) => centres[other] === centres[server]).length;
      return [server, (load[Number(centres[server]?.slice(1)) - 1] ?? 0) / total / neighbours];
    }),
  );
}

/**
 * Returns θl of the paper: the time until a quorum answers, plus the mean round trip of the requests to
 * `leader`.
 */
export function meanByFormula(deployment: Deployment, load: Load, leader: string): number {
  const trips = survivors.map((server) => roundTripMs(deployment, leader, server)).toSorted((a, b) => a - b);
  const quorumMs = trips[Math.floor(servers.length / 2)] ?? Number.NaN;
  const ways = [...shares(deployment, load)].map(
    ([at, share]) => share * roundTripMs(deployment, leader, at),
  );
  return ways.reduce((sum, way) => sum + way, quorumMs);
}
