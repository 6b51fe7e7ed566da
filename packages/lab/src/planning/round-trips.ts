/** Distances between the nodes of a deployment. */
import type { Deployment } from './deployment.js';

type Table = Pick<Deployment, 'sites' | 'nodes'>;

/**
 * Returns the round trip that `from` measures to `to`. A value for the two nodes takes precedence over a
 * value for their sites. A value that is given only in the other direction applies to both directions.
 * Returns undefined if no value is given.
 */
export function roundTripMs({ sites, nodes }: Table, from: string, to: string): number | undefined {
  const between = own(own(nodes, from)?.roundTripsMs, to) ?? own(own(nodes, to)?.roundTripsMs, from);
  if (between !== undefined) return between;
  const fromSite = own(nodes, from)?.site ?? '';
  const toSite = own(nodes, to)?.site ?? '';
  const sameSite = fromSite === toSite ? 0 : undefined;
  return (
    own(own(sites, fromSite)?.roundTripsMs, toSite) ??
    own(own(sites, toSite)?.roundTripsMs, fromSite) ??
    sameSite
  );
}

/**
 * Reads only own properties, because a name in the file may also be the name of a property that every object
 * inherits.
 */
function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

/**
 * Returns the pairs of sites whose nodes have no known round trip to each other, but at most `most` pairs.
 */
export function missingRoundTrips(table: Table, most: number): string[] {
  const names = Object.keys(table.nodes);
  const missing = new Set<string>();
  for (const [index, from] of names.entries()) {
    for (const to of names.slice(index + 1)) {
      if (roundTripMs(table, from, to) !== undefined) continue;
      missing.add([own(table.nodes, from)?.site, own(table.nodes, to)?.site].toSorted().join(' and '));
      if (missing.size >= most) return [...missing];
    }
  }
  return [...missing];
}

/** Returns one line for each pair of sites or nodes that measure different round trips to each other. */
export function asymmetries({ sites, nodes }: Table): string[] {
  return [...asymmetriesIn('site', sites), ...asymmetriesIn('node', nodes)];
}

type Rows = Readonly<Record<string, { readonly roundTripsMs: Readonly<Record<string, number>> }>>;

function asymmetriesIn(what: string, rows: Rows): string[] {
  return Object.entries(rows).flatMap(([from, { roundTripsMs }]) =>
    Object.entries(roundTripsMs).flatMap(([to, there]) => {
      const back = own(own(rows, to)?.roundTripsMs, from);
      if (back === undefined || back === there || from > to) return [];
      return [
        `${what}s ${from} and ${to} measure different round trips, ${there} and ${back} ms: each direction uses its own value`,
      ];
    }),
  );
}
