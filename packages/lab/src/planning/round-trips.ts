/** How far apart the nodes of a described deployment are. */
import type { Deployment } from './deployment.js';

type Table = Pick<Deployment, 'sites' | 'nodes'>;

/**
 * The time there and back, as `from` measures it: between these two nodes, else between their sites; where
 * that is written only the other way round, it is the same. Undefined where it is not written at all.
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

/** Names may be those of what every object has. */
function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

/**
 * Pairs of nodes without a round trip, by their sites where that is what is missing. At most `most` of them.
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

/** Where what one side measures is not what the other does: one line each. */
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
