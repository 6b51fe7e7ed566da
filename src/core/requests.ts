/** Switchovers that people ask for: which still counts, and whom it means. */

import type { GroupConfig, SwitchoverRequest } from '../model/group-config.js';
import { fromInstant } from '../model/names.js';
import type { Member } from '../model/snapshot.js';
import type { Ranked } from '../model/strategy.js';
import type { Elected } from '../model/znodes.js';
import type { Elsewhere } from './elsewhere.js';

/** A switchover that a person asked for, while it counts: it names the term it replaces. */
export function activeRequest(config: GroupConfig, elected: Elected): SwitchoverRequest | null {
  return config.switchover?.replacesTerm === elected.term ? config.switchover : null;
}

/**
 * A scheduled request is carried out no later than this after its time: another leader may be the right one
 * by then.
 */
export const mostLateMs = 60_000;

/**
 * When a scheduled request is missed, on the ensemble's clock; null for one without a time, which goes on
 * waiting.
 */
export function missedAtMs({ notBefore }: Pick<SwitchoverRequest, 'notBefore'>): number | null {
  return notBefore === null ? null : fromInstant(notBefore) + mostLateMs;
}

/** True if a decision that carries out no request leaves one behind: active until now, or missed before. */
export function missesRequest(config: GroupConfig, elected: Elected): boolean {
  if (config.switchover === null) return false;
  return config.switchover.replacesTerm === elected.term || elected.missedRequest === true;
}

/** "switchover to b1 requested by …". */
export function requestText({ to, force, by, at, notBefore, slot }: SwitchoverRequest): string {
  const when = notBefore === null ? '' : ` not before ${notBefore}`;
  const which = slot === undefined ? '' : ` of slot ${slot}`;
  return `${force ? 'failover' : 'switchover'}${which} to ${targetText(to)}${when}, requested by ${by} at ${at},`;
}

export function targetText(to: SwitchoverRequest['to']): string {
  if (to === 'best-other') return 'the best other node';
  return 'node' in to ? to.node : `site ${to.site}`;
}

interface Asked {
  readonly members: readonly Member[];
  readonly elected: Elected;
  readonly elsewhere: Pick<Elsewhere, 'busy'>;
}

/**
 * Whom a request means now; null while nobody fits it, or when an eligible leader is in the site asked for
 * already. `ranking` holds the eligible nodes, best first. Force skips eligibility, but a node that is not
 * there, or on its way out, cannot lead whoever wants it, and none leads twice.
 */
export function requestTarget(
  { to, force }: SwitchoverRequest,
  { members, elected, elsewhere }: Asked,
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
  const isThere = elected.node !== null && eligible.includes(elected.node) && inSite.includes(elected.node);
  return isThere ? null : (others.find((node) => inSite.includes(node)) ?? null);
}

function isAble({ value }: Member): boolean {
  return value !== null && !value.draining;
}
