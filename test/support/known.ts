/** Lookups of values that a test expects to exist. A missing value is an error in the test. */

/** Returns the value of a node. Throws if there is no such node. */
export function ofNode<T>(all: ReadonlyMap<string, T>, node: string): T {
  const found = all.get(node);
  if (found === undefined) throw new Error(`unknown node ${node}; there are ${[...all.keys()].join(', ')}`);
  return found;
}

/** Returns `parts`, which `start` sets. Throws if `start` has not been called. */
export function started<T>(parts: T | undefined, what: string): T {
  if (parts === undefined) throw new Error(`${what} has not been started`);
  return parts;
}
