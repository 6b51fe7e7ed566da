/** Checks that a group knows the nodes and sites that operators name. */
import { nearestOf } from '../config/nearest.js';
import { PetrelError, type Remedy } from '../errors.js';
import { cut, firstOf } from '../model/outside.js';

/**
 * Throws PetrelError REFUSED if `known` does not contain the name, because a change that contains a misspelt
 * name would have no effect.
 */
export function mustBeKnown(
  what: 'node' | 'site',
  name: string,
  known: readonly string[],
  remedies: readonly Remedy[] = [],
): void {
  if (known.includes(name)) return;
  throw new PetrelError('REFUSED', `unknown ${what} ${cut(name)}`, {
    reasons: [knownText(what, name, known)],
    remedies,
  });
}

/** A message lists all known names if there are at most this many. */
const fewNames = 10;

/** Returns a message about a name that is not in `known`. The message suggests a known name. */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  return `unknown ${what} ${cut(name)}: ${knownText(what, name, known)}`;
}

function knownText(what: string, name: string, all: readonly string[]): string {
  const known = [...new Set(all)];
  const areFew = known.length <= fewNames;
  // Names may be as short as one letter. If there are only a few names, do not guess that the operator wrote
  // b instead of a.
  const nearest = nearestOf(name, known, areFew ? 0 : undefined);
  const question = nearest === undefined ? '' : `did you mean ${nearest}?`;
  if (question !== '' && !areFew) return question;
  const listed = `known ${what}s: ${firstOf(known).join(', ') || 'none'}`;
  return question === '' ? listed : `${question} ${listed}`;
}
