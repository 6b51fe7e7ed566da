/** Conditions of a decision: what a strategy may consider in addition to the candidates. */

import type { GroupConfig } from '../model/group-config.js';
import type { Member } from '../model/snapshot.js';
import { siteOf } from '../model/snapshot.js';
import type { Conditions } from '../model/strategy.js';
import type { Elected } from '../model/znodes.js';
import { departure, type Ineligible, ineligibleReasonsOf, ownIneligibleReasons } from './constraint.js';
import { minuteOfDay } from './ensemble-clock.js';
import { activeRequest } from './requests.js';

interface Scene {
  readonly elected: Elected;
  readonly members: readonly Member[];
  readonly config: GroupConfig;
  readonly nowMs: number;
}

export function conditionsOf(
  { elected, members, config, nowMs }: Scene,
  ineligible: readonly Ineligible[],
  incumbent: string | null,
): Conditions {
  const isAsked = activeRequest(config, elected) !== null;
  const failedSite =
    incumbent === null ? siteOfFailure({ elected, members }, ineligible) : elected.failedSite;
  return {
    after: failedSite === null || isAsked ? 'planned' : 'failure',
    failedSite: isAsked ? null : failedSite,
    minuteOfDay: minuteOfDay(nowMs),
    registered: members.length,
    eligible: members.length - ineligible.filter((one) => ownIneligibleReasons(one).length > 0).length,
    flags: Object.keys(config.flags).toSorted(),
  };
}

/**
 * Returns the site of a leader that must be replaced because it failed. Returns null if the leader leaves as
 * planned.
 */
export function siteOfFailure(
  { elected, members }: Pick<Scene, 'elected' | 'members'>,
  ineligible: readonly Ineligible[],
): string | null {
  if (elected.node === null) return elected.failedSite;
  const isFailure = departure(ineligibleReasonsOf(elected.node, ineligible)) === 'failure';
  return isFailure ? (siteOf(elected.node, members) ?? elected.site) : null;
}
