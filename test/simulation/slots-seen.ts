/**
 * What the other slots of a group mean for one slot, by the simplest criteria. Nothing in a group with one
 * leader.
 */
import type { Registration } from '../../src/model/registration.js';
import type { Picture, RegistrationSeen } from './ledger.js';
import { isAvoided } from './rules-of-sites.js';

/** Whether the node is elected, or has a claim, in another slot. */
export function isTaken({ others, registrations }: Picture, node: string): boolean {
  const owner = registrations.get(node)?.owner;
  return others.some(({ elected, claim }) => {
    const owns = claim !== null && (claim.content.node === node || claim.owner === owner);
    return owns || elected?.content.node === node;
  });
}

/** Whether the group should no longer have this slot. */
export function isGivenUp({ slot, config }: Picture): boolean {
  return config !== null && slot > config.content.leaders;
}

/**
 * Whether another slot's node is in the site. The node that has this slot yields only to lower slots. A new
 * node yields to all slots, and to leaders that are about to go.
 */
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

/** Whether the site has another slot and may have only one. `hasIt`: whether the node has this slot. */
export function isCrowded(picture: Picture, site: string, hasIt = false): boolean {
  return isApart(picture, site, 'hard', hasIt);
}

/** Whether a soft rule counts against the site. */
export function isShunned(picture: Picture, site: string, hasIt = false): boolean {
  const config = picture.config?.content;
  return isApart(picture, site, 'soft', hasIt) || (config !== undefined && isAvoided(config, site));
}

/** Whether the failure that a node reports is about this slot's decision. */
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
