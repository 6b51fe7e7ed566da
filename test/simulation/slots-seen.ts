/**
 * Determines how the other slots of a group affect one slot, by the simplest criteria. In a group with one
 * leader, there is no effect.
 */
import type { Registration } from '../../src/model/registration.js';
import type { Picture, RegistrationSeen } from './ledger.js';
import { isAvoided } from './rules-of-sites.js';

/** Whether the node is elected or has a claim in another slot. */
export function isTaken({ others, registrations }: Picture, node: string): boolean {
  const owner = registrations.get(node)?.owner;
  return others.some(({ elected, claim }) => {
    const owns = claim !== null && (claim.content.node === node || claim.owner === owner);
    return owns || elected?.content.node === node;
  });
}

/** Whether the slot's number is above the configured number of leaders. */
export function isGivenUp({ slot, config }: Picture): boolean {
  return config !== null && slot > config.content.leaders;
}

/**
 * Whether the node of another slot is in the site. A node that has this slot yields only to lower slots. A
 * new node yields to all slots, and to leaders that are about to release.
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

/**
 * Whether the site must not have this slot, because it has another slot and may have only one. `hasIt` says
 * whether a node of the site has this slot now.
 */
export function isCrowded(picture: Picture, site: string, hasIt = false): boolean {
  return isApart(picture, site, 'hard', hasIt);
}

/** Whether a soft rule is against electing a node of this site. */
export function isShunned(picture: Picture, site: string, hasIt = false): boolean {
  const config = picture.config?.content;
  return isApart(picture, site, 'soft', hasIt) || (config !== undefined && isAvoided(config, site));
}

/** Whether a node reports a failure that belongs to this slot's current decision. */
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
