/** Soft rules about where a leader is: they prefer, and refuse nobody. */
import type { GroupConfig } from './group-config.js';
import { type OtherSlots, sharedSite } from './other-slots.js';
import { objections } from './site-rules.js';
import type { Member } from './snapshot.js';
import type { Ranked } from './strategy.js';

/** A ranking, the best first, by soft rules: nodes that one speaks against come after all others, in their order. */
export function bySoftRules(
  ranking: readonly Ranked[],
  members: readonly Member[],
  config: GroupConfig,
  otherSlots?: OtherSlots,
): readonly Ranked[] {
  const against = softReasons(members, config, otherSlots);
  if (against.size === 0) return ranking;
  const below = Math.max(...ranking.map(({ grade }) => grade)) + 1;
  const preferred = ranking.filter(({ node }) => !against.has(node));
  const others = ranking.flatMap((entry) => {
    const why = against.get(entry.node);
    if (why === undefined) return [];
    return [{ ...entry, grade: entry.grade + below, reason: `${entry.reason}, but ${why}` }];
  });
  return [...preferred, ...others];
}

/** What soft rules have against nodes; those that none speaks against are missing. */
function softReasons(
  members: readonly Member[],
  config: GroupConfig,
  otherSlots?: OtherSlots,
): ReadonlyMap<string, string> {
  const reasons = members.map((member): [string, string] => {
    const { node, value, misplaced } = member;
    const all = value === null ? [] : [...objections(value.site, config), ...(misplaced ? [misplaced] : [])];
    const found = all.filter(({ isHard }) => !isHard).map(({ reason }) => reason);
    const shared = sharedSite(member, config, otherSlots);
    return [node, [...found, ...(shared === null ? [] : [shared])].join(', ')];
  });
  return new Map(reasons.filter(([, why]) => why !== ''));
}
