/** Soft constraints in a ranking: they prefer, and refuse nobody. */

import type { Ranked } from '../model/strategy.js';
import type { Judged } from './constraint.js';

/**
 * A ranking, the best first: nodes that a soft constraint speaks against come after all others, in their
 * order.
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
