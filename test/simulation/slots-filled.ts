/** Determines whether a group without faults has the leaders that it should have. */
import type { Cast } from './havoc.js';
import { inSlot, slotsIn } from './ledger.js';

/**
 * Whether enough slots have leaders that report their leadership, and no slot above the configured number is
 * in use.
 */
export function isInPlace(cast: Cast): boolean {
  return leading(cast) >= dueCount(cast) && heldTooMany(cast).length === 0;
}

/** Describes the missing leaders, or the slots in excess, for display. */
export function missingText(cast: Cast): string {
  const [count, due] = [leading(cast), dueCount(cast)];
  if (count === 0) return 'nobody leads';
  if (count < due) return `${count} of ${due} leaders lead`;
  return `slot ${heldTooMany(cast).join(', ')} is held, and given up`;
}

function leadersOf({ rules }: Cast): number {
  return rules.picture().config?.content.leaders ?? 1;
}

/**
 * Returns the number of leaders that the group should have. A mute node does not count because its claims are
 * lost. A node that must not lead does not count, either.
 */
function dueCount(cast: Cast): number {
  const { only, spread } = cast.rules.picture().config?.content.siteRules ?? {};
  const isOpen = only === undefined || only.sites.length === 0 || only.strength === 'soft';
  const able = cast.nodes.filter(({ isMute, site }) => !isMute && (isOpen || only.sites.includes(site)));
  const isApart = spread?.over === 'another-site' && spread.strength === 'hard';
  const places = new Set(able.map(({ name, site }) => (isApart ? site : name)));
  return Math.min(leadersOf(cast), places.size);
}

function leading(cast: Cast): number {
  const { judge, nodes } = cast;
  const slots = Array.from({ length: leadersOf(cast) }, (_, index) => index + 1);
  return slots.filter((slot) => {
    const claim = judge.claimIn(slot);
    if (claim?.isReady !== true) return false;
    return nodes.some(({ name, saysItLeads }) => name === claim.node && saysItLeads);
  }).length;
}

function heldTooMany({ rules, judge, setup }: Cast): number[] {
  const picture = rules.picture();
  const leaders = picture.config?.content.leaders ?? 1;
  if (setup.slots === 1) return [];
  return slotsIn(picture)
    .map(({ slot }) => slot)
    .filter((slot) => slot > leaders)
    .filter((slot) => judge.claimIn(slot) !== null || inSlot(picture, slot).elected?.content.node != null);
}
