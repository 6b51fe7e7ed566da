/** The size of a run: the number of slots and agents, and the session timeout. */
export interface Scale {
  /** Number of slots of the group. */
  readonly leaders: number;
  readonly agents: number;
  readonly sessionTimeoutMs: number;
}

export const defaultScale: Scale = { leaders: 1, agents: 5, sessionTimeoutMs: 6_000 };

const siteNames = ['a', 'b', 'c'];

/**
 * Returns the site of each node. The nodes are spread evenly, and the first sites get the remaining nodes.
 */
export function sitesOf(agents: number): Readonly<Record<string, string>> {
  const nodes = siteNames.flatMap((site, index) => {
    const size = Math.ceil((agents - index) / siteNames.length);
    return Array.from({ length: size }, (_, place) => [`${site}${place + 1}`, site]);
  });
  return Object.fromEntries(nodes);
}

export function slotsOf({ leaders }: Pick<Scale, 'leaders'>): number[] {
  return Array.from({ length: leaders }, (_, index) => index + 1);
}
