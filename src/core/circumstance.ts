/** Under what circumstances a decision is made: what a strategy may go by, beside who the candidates are. */

import { departure, isOfSlots, obstaclesOf, type Unfit } from './eligibility.js';
import type { GroupConfig } from './group-config.js';
import type { OtherSlots } from './other-slots.js';
import { activeRequest } from './requests.js';
import { siteOf } from './site-rules.js';
import type { Member } from './snapshot.js';
import type { Elected } from './znodes.js';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

export interface Circumstance {
  /**
   * What the decision is about: the successor of a leader, or a candidate, that failed; or anything else. While the
   * elected node could go on it is what it was elected for, so that a leader is not left for no more than that the
   * failure is over.
   */
  readonly after: 'failure' | 'planned';
  /** The site of the leader that failed, after a failure. */
  readonly failedSite: string | null;
  /** On the ensemble's clock, in UTC, from 0 to 1439. */
  readonly minuteOfDay: number;
  /** Nodes that are registered, and how many of them are fit to lead. */
  readonly registered: number;
  readonly fit: number;
  /** Those that operators have set, in order. */
  readonly flags: readonly string[];
}

interface Scene {
  readonly elected: Elected;
  readonly members: readonly Member[];
  readonly config: GroupConfig;
  readonly nowMs: number;
  readonly otherSlots?: OtherSlots | undefined;
}

export function circumstanceOf(
  { elected, members, config, nowMs, otherSlots }: Scene,
  unfit: readonly Unfit[],
  incumbent: string | null,
): Circumstance {
  const isAsked = activeRequest(config, elected, otherSlots?.slot) !== null;
  const failedSite = incumbent === null ? siteOfFailure({ elected, members }, unfit) : elected.failedSite;
  return {
    after: failedSite === null || isAsked ? 'planned' : 'failure',
    failedSite: isAsked ? null : failedSite,
    minuteOfDay: Math.floor((((nowMs % dayMs) + dayMs) % dayMs) / minuteMs),
    registered: members.length,
    fit: members.length - unfit.filter(({ obstacles }) => !obstacles.every(isOfSlots)).length,
    flags: Object.keys(config.flags).toSorted(),
  };
}

/** The site of the leader that is to be replaced because it failed; null where it leaves as people wish. */
export function siteOfFailure(
  { elected, members }: Pick<Scene, 'elected' | 'members'>,
  unfit: readonly Unfit[],
): string | null {
  if (elected.node === null) return elected.failedSite;
  const isFailure = departure(obstaclesOf(elected.node, unfit)) === 'failure';
  return isFailure ? (siteOf(elected.node, members) ?? elected.site) : null;
}

/** How long until the next of some minutes of the day begins, after `epochMs`; null without any. */
export function nextMinuteInMs(minutes: readonly number[], epochMs: number): number | null {
  if (minutes.length === 0) return null;
  const intoDayMs = ((epochMs % dayMs) + dayMs) % dayMs;
  const waits = minutes.map((minute) => (minute * minuteMs - intoDayMs + dayMs) % dayMs || dayMs);
  return Math.min(...waits);
}
