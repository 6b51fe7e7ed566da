/** Soft constraints in a ranking. They rank nodes lower but do not exclude any. */

import type { Ranked } from '../model/strategy.js';
import type { Judged } from './constraint.js';

/**
 * Returns the ranking with the nodes that have a soft constraint against them moved behind all other nodes.
 * The order within both parts is unchanged.
 */
export function bySoftConstraints(ranking: readonly Ranked[], judged: readonly Judged[]): readonly Ranked[] {
  const against = new Map(
    judged
      .filter(({ softReasons }) => softReasons.length > 0)
      .map(({ member, softReasons }) => [member.node, softReasons.join(', ')]),
  );
  if (!ranking.some(({ node }) => against.has(node))) return ranking;
  const below = Math.max(...ranking.map(({ grade }) => grade)) + 1;
  const preferred = ranking.filter(({ node }) => !against.has(node));
  const others = ranking.flatMap((entry) => {
    const why = against.get(entry.node);
    if (why === undefined) return [];
    return [{ ...entry, grade: entry.grade + below, reason: `${entry.reason}, but ${why}` }];
  });
  return [...preferred, ...others];
}
