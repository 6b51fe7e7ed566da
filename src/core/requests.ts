/** Requested switchovers: which request is still active, and which node it selects. */

import type { GroupConfig, SwitchoverRequest } from '../model/group-config.js';
import { fromInstant } from '../model/names.js';
import type { Member } from '../model/snapshot.js';
import type { Ranked } from '../model/strategy.js';
import type { Elected } from '../model/znodes.js';
import type { Elsewhere } from './elsewhere.js';

/**
 * Returns the requested switchover if it is active. Otherwise returns null. A request is active while the
 * term that it replaces is current.
 */
export function activeRequest(config: GroupConfig, elected: Elected): SwitchoverRequest | null {
  return config.switchover?.replacesTerm === elected.term ? config.switchover : null;
}

/**
 * Maximum delay with which a scheduled request may be carried out. After that, a different leader may be the
 * right one.
 */
export const mostLateMs = 60_000;

/**
 * Returns when a scheduled request counts as missed, on the ensemble's clock. Returns null for a request
 * without a time, which never counts as missed.
 */
export function missedAtMs({ notBefore }: Pick<SwitchoverRequest, 'notBefore'>): number | null {
  return notBefore === null ? null : fromInstant(notBefore) + mostLateMs;
}

/**
 * Whether a decision that carries out no request leaves a missed request behind. That request was either
 * active until the decision, or it had already been missed.
 */
export function missesRequest(config: GroupConfig, elected: Elected): boolean {
  if (config.switchover === null) return false;
  return config.switchover.replacesTerm === elected.term || elected.missedRequest === true;
}

/** Formats a request for display, such as "switchover to b1 requested by …". */
export function requestText({ to, force, by, at, notBefore, slot }: SwitchoverRequest): string {
  const when = notBefore === null ? '' : ` not before ${notBefore}`;
  const which = slot === undefined ? '' : ` of slot ${slot}`;
  return `${force ? 'failover' : 'switchover'}${which} to ${targetText(to)}${when}, requested by ${by} at ${at},`;
}

export function targetText(to: SwitchoverRequest['to']): string {
  if (to === 'best-other') return 'the best other node';
  return 'node' in to ? to.node : `site ${to.site}`;
}

interface Candidates {
  readonly members: readonly Member[];
  readonly elected: Elected;
  readonly elsewhere: Pick<Elsewhere, 'busy'>;
}

/**
 * Returns the node that a request selects now. Returns null if no node qualifies, or if an eligible leader is
 * already in the requested site. `ranking` lists the eligible nodes, best first. A forced request that names
 * a node skips the eligibility check. Even with force, a node is not selected if it is not registered, is
 * leaving, or leads another slot.
 */
export function requestTarget(
  { to, force }: SwitchoverRequest,
  { members, elected, elsewhere }: Candidates,
  ranking: readonly Ranked[],
): string | null {
  const eligible = ranking.map(({ node }) => node);
  const others = eligible.filter((node) => node !== elected.node);
  if (to === 'best-other') return others[0] ?? null;
  if ('node' in to) {
    const free = members.filter(({ node }) => !elsewhere.busy.has(node));
    const able = force ? free.filter(isAble).map(({ node }) => node) : eligible;
    return able.includes(to.node) ? to.node : null;
  }
  const inSite = members.filter(({ value }) => value?.site === to.site).map(({ node }) => node);
  const isThere = eligible.some((node) => node === elected.node && inSite.includes(node));
  return isThere ? null : (others.find((node) => inSite.includes(node)) ?? null);
}

function isAble({ value }: Member): boolean {
  return value !== null && !value.draining;
}
