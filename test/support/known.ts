/** What a test knows to be there; where it is not, the test is wrong, and is told so. */

/** What belongs to a node. Throws where there is no such node. */
export function ofNode<T>(all: ReadonlyMap<string, T>, node: string): T {
  const found = all.get(node);
  if (found === undefined) throw new Error(`unknown node ${node}; there are ${[...all.keys()].join(', ')}`);
  return found;
}

/** What `start` makes. Throws where it was not called yet. */
export function started<T>(parts: T | undefined, what: string): T {
  if (parts === undefined) throw new Error(`${what} has not been started`);
  return parts;
}
