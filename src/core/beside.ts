/**
 * Where this group's leader has to be for another group's: a backup job on its database's node, or never there. The
 * other group goes its own way; this one follows.
 *
 * While nobody is READY in the other group, as in a handover of its own, whoever leads here stays, and a hard rule for the
 * same node or site elects nobody: where that will be is not known yet.
 */
import type { GroupConfig } from './group-config.js';
import type { Member } from './snapshot.js';
import type { Elected, Place } from './znodes.js';

/** The other group, as it was read. */
export interface Neighbour {
  readonly root: string;
  /** Who is READY there. */
  readonly leader: Place | null;
  /** Of a circle of groups, each beside the next, this one is the first by its root: so that they do not chase one another
   * for ever, whoever leads it stays. */
  readonly goesFirst: boolean;
}

/**
 * The members, each with what the rule has against it. `decisions`: of all slots; `neighbour` null: there is no rule, or it is
 * not known.
 */
export function withMisplaced(
  members: readonly Member[],
  config: GroupConfig | null,
  decisions: readonly (Elected | null)[],
  neighbour: Neighbour | null,
): readonly Member[] {
  if (config === null || neighbour === null) return members;
  const present = new Set(decisions.map((elected) => elected?.node));
  return members.map((member) => {
    const reason = objection(member, config, present.has(member.node), neighbour);
    if (reason === null) return member;
    return { ...member, misplaced: { reason, isHard: config.beside.strength === 'hard' } };
  });
}

type Where = GroupConfig['beside']['where'];
const holds: Readonly<Record<Where, (own: Place, other: Place) => boolean>> = {
  'same-node': (own, other) => own.node === other.node,
  'same-site': (own, other) => own.site === other.site,
  'another-node': (own, other) => own.node !== other.node,
  'another-site': (own, other) => own.site !== other.site,
};
const wanted: Readonly<Record<Where, string>> = {
  'same-node': 'on the same node',
  'same-site': 'in the same site',
  'another-node': 'on another node',
  'another-site': 'in another site',
};

function objection(
  { node, value }: Member,
  { beside: { where } }: GroupConfig,
  isPresent: boolean,
  { root, leader, goesFirst }: Neighbour,
): string | null {
  if (value === null || (isPresent && goesFirst)) return null;
  if (leader === null) {
    const isFree = isPresent || where === 'another-node' || where === 'another-site';
    return isFree
      ? null
      : `it has to be ${wanted[where]} as the leader of ${root}, and nobody is READY there`;
  }
  if (holds[where]({ node, site: value.site }, leader)) return null;
  const as = where === 'same-node' || where === 'same-site' ? 'as' : 'than';
  return `it has to be ${wanted[where]} ${as} the leader of ${root}, which is ${leader.node} in site ${leader.site}`;
}
