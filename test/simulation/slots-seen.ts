/**
 * What the other slots of a group mean for one, by the plainest reading; nothing in a group of one leader.
 */
import type { Registration } from '../../src/model/registration.js';
import type { Picture, RegistrationSeen } from './ledger.js';
import { isAvoided } from './rules-of-sites.js';

/** The node is elected, or has a claim, in another slot. */
export function isTaken({ others, registrations }: Picture, node: string): boolean {
  const owner = registrations.get(node)?.owner;
  return others.some(({ elected, claim }) => {
    const owns = claim !== null && (claim.content.node === node || claim.owner === owner);
    return owns || elected?.content.node === node;
  });
}

/** The group is not to have this slot any more. */
export function isGivenUp({ slot, config }: Picture): boolean {
  return config !== null && slot > config.content.leaders;
}

/** Who has a slot gives way only to slots before it; who comes to all, and to whoever is on the way out. */
function sharesSite({ slot, others }: Picture, site: string, hasIt: boolean): boolean {
  return others.some(({ slot: other, elected, claim }) => {
    if (hasIt && other > slot) return false;
    const isElected = elected !== null && elected.content.node !== null && elected.content.site === site;
    return isElected || (!hasIt && claim?.content.site === site);
  });
}

function isApart(picture: Picture, site: string, strength: 'hard' | 'soft', hasIt: boolean): boolean {
  const spread = picture.config?.content.siteRules.spread;
  if (spread?.over !== 'another-site' || spread.strength !== strength) return false;
  return sharesSite(picture, site, hasIt);
}

/** Another slot is in the site, which may hold but one. `hasIt`: of whoever has this slot. */
export function isCrowded(picture: Picture, site: string, hasIt = false): boolean {
  return isApart(picture, site, 'hard', hasIt);
}

/** A soft rule speaks against the site. */
export function isShunned(picture: Picture, site: string, hasIt = false): boolean {
  const config = picture.config?.content;
  return isApart(picture, site, 'soft', hasIt) || (config !== undefined && isAvoided(config, site));
}

/** What a node says of its failure is about this slot's decision. */
export function saysItFailed(
  registration: RegistrationSeen | undefined,
  { slot, elected }: Picture,
): boolean {
  const failure = registration?.content.lastFailure;
  return failure != null && failure.electedVersion === elected?.version && (failure.slot ?? 1) === slot;
}

export function slotOfClaim({ claimedSlot = 1 }: Registration): number {
  return claimedSlot;
}
