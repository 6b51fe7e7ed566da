/** What is lost in a what-if: nodes, or sites with all their nodes. */
import { nearestOf } from '../config/nearest.js';
import { PetrelError } from '../errors.js';
import { cut, firstOf, quoted } from '../model/outside.js';

export interface Place {
  readonly node: string;
  /** Null where it is not known. */
  readonly site: string | null;
}

const written = /^(?<what>node|site)=(?<name>.+)$/;

/**
 * The nodes that `texts`, each `node=NODE` or `site=SITE`, name. Throws PetrelError INVALID; `from` tells
 * whence they are.
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

/** Null where `text` names something that is there. */
export function lossProblem(text: string, places: readonly Place[]): string | null {
  const { what, name = '' } = written.exec(text)?.groups ?? {};
  if (what === undefined) return `expected node=NODE or site=SITE, found ${quoted(text)}`;
  const known = [
    ...new Set(places.flatMap(({ node, site }) => (what === 'node' ? node : (site ?? [])))),
  ].toSorted();
  return known.includes(name) ? null : unknownName(what, name, known);
}

/** Few enough to be read. */
const fewNames = 10;

/** Of a name that is not among those `known`, with what may have been meant. */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  const nearest = known.length <= fewNames ? undefined : nearestOf(name, known);
  const hint =
    nearest === undefined ? `known: ${firstOf(known).join(', ') || 'none'}` : `did you mean ${nearest}?`;
  return `unknown ${what} ${cut(name)}: ${hint}`;
}
