/** The losses that a simulation assumes: lost nodes, or lost sites with all their nodes. */
import { PetrelError } from '../errors.js';
import { unknownName } from '../group/known-names.js';
import { quoted } from '../model/outside.js';

export interface Place {
  readonly node: string;
  /** The node's site. Null if it is not known. */
  readonly site: string | null;
}

const written = /^(?<what>node|site)=(?<name>[^,=]+)$/;

/**
 * Returns the nodes that `texts` name. Each element of `texts` has the form `node=NODE` or `site=SITE`.
 * `from` names the source of `texts` in messages. Throws PetrelError INVALID if an element is invalid.
 */
export function lostNodes(
  texts: readonly string[],
  places: readonly Place[],
  from: string,
): ReadonlySet<string> {
  const problems = texts.flatMap((text) => lossProblem(text, places) ?? []);
  if (problems.length > 0) {
    throw new PetrelError('INVALID', `${from}: ${problems.join('; ')}`, { reasons: problems });
  }
  const lost = places.filter(({ node, site }) =>
    texts.some((text) => text === `node=${node}` || text === `site=${site}`),
  );
  return new Set(lost.map(({ node }) => node));
}

/** Returns the problem with `text`. Returns null if `text` names an existing node or site. */
export function lossProblem(text: string, places: readonly Place[]): string | null {
  const { what, name = '' } = written.exec(text)?.groups ?? {};
  if (what === undefined) return `expected one node=NODE or site=SITE, found ${quoted(text)}`;
  const known = [
    ...new Set(places.flatMap(({ node, site }) => (what === 'node' ? node : (site ?? [])))),
  ].toSorted();
  return known.includes(name) ? null : unknownName(what, name, known);
}
