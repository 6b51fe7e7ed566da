/**
 * Where this group's leader must be in relation to another group's leader. For example, a backup job may be
 * required to run on the database's node, or forbidden to run there. The other group decides independently,
 * and this group follows.
 *
 * While no node is READY in the other group, for example during its own handover, this group's leader stays
 * where it is. If this group has no leader to keep and a hard rule requires the same node or site, the place
 * is not known yet. In that case, no node is elected.
 */
import type { Constraint, ConstraintContext, Registered } from '../../src/core/constraint.js';
import type { GroupConfig } from '../../src/model/group-config.js';
import type { Place } from '../../src/model/znodes.js';

type Where = GroupConfig['affinity']['where'];
const holds: Readonly<Record<Where, (own: Place, other: Place) => boolean>> = {
  'same-node': (own, other) => own.node === other.node,
  'same-site': (own, other) => own.site === other.site,
  'another-node': (own, other) => own.node !== other.node,
  'another-site': (own, other) => own.site !== other.site,
};
const wanted: Readonly<Record<Where, string>> = {
  'same-node': 'on the same node',
  'same-site': 'in the same site',
  'another-node': 'on a different node',
  'another-site': 'in a different site',
};

export const affinity: Constraint = {
  kind: 'affinity',
  description: 'it violates `affinity`, the rule about another group’s leader',
  ends: 'planned',
  canBeForced: true,
  check: (node, context) => {
    const reason = softReason(node, context);
    return reason === null ? null : { strength: context.config.affinity.strength, reason };
  },
};

function softReason(
  { node, registration: { site } }: Registered,
  { config, neighbour, elected }: ConstraintContext,
): string | null {
  if (neighbour === null) return null;
  const { root, leader, goesFirst } = neighbour;
  const { where } = config.affinity;
  const isElected = elected.has(node);
  if (isElected && goesFirst) return null;
  if (leader === null) {
    const isFree = isElected || where === 'another-node' || where === 'another-site';
    return isFree
      ? null
      : `the leader must be ${wanted[where]} as the leader of ${root}, but ${root} has no READY leader`;
  }
  if (holds[where]({ node, site }, leader)) return null;
  const as = where === 'same-node' || where === 'same-site' ? 'as' : 'from';
  return `the leader must be ${wanted[where]} ${as} the leader of ${root}, which is ${leader.node} in site ${leader.site}`;
}
