/** Failed sites: when a site counts as failed because it has too few nodes, and when it counts as healthy. */

import { durationMs } from '../model/duration.js';
import { type GroupConfig, siteConfig } from '../model/group-config.js';
import type { Member } from '../model/snapshot.js';

/** A site that the `minNodes` rule declares failed or healthy. */
export interface SiteVerdict {
  readonly site: string;
  readonly isFailed: boolean;
  /** Reason for the verdict as text, for display. */
  readonly reason: string;
}

interface SiteCount {
  readonly isEnough: boolean;
  /**
   * When the site was declared failed, according to the current configuration. If this time changes, the
   * count starts over. Null if the site is not declared failed.
   */
  readonly failedAt: string | null;
  /** Start of the count, on the elector's monotonic clock. */
  readonly sinceMs: number;
}

/**
 * State of each site that has a `minNodes` rule: whether the site has enough nodes, and since when. Keyed by
 * site.
 */
export type SiteCounts = ReadonlyMap<string, SiteCount>;

interface Counted {
  readonly members: readonly Member[];
  readonly config: GroupConfig;
  /** Current time on the elector's monotonic clock. */
  readonly nowMs: number;
}

function ruled(config: GroupConfig): { site: string; minNodes: number }[] {
  return Object.entries(config.sites)
    .filter(([, { minNodes, failed }]) => minNodes > 0 || failed?.byRule === true)
    .map(([site, { minNodes }]) => ({ site, minNodes }));
}

function alive(site: string, members: readonly Member[]): number {
  return members.filter(({ value }) => value?.site === site).length;
}

/** Returns the counts in `before`, updated with the current registrations. */
export function countSites({ members, config, nowMs }: Counted, before: SiteCounts): SiteCounts {
  return new Map(
    ruled(config).map(({ site, minNodes }) => {
      const isEnough = alive(site, members) >= minNodes;
      const failedAt = siteConfig(config, site).failed?.at ?? null;
      const known = before.get(site);
      const isSame = known?.isEnough === isEnough && known.failedAt === failedAt;
      return [site, isSame ? known : { isEnough, failedAt, sinceMs: nowMs }];
    }),
  );
}

export interface SiteJudgement {
  readonly verdicts: readonly SiteVerdict[];
  /** Time until the next verdict may be due. Null if none is pending. */
  readonly waitMs: number | null;
}

/**
 * Returns the sites that must be declared failed or healthy. A site fails only after it has had too few nodes
 * continuously for some time. It recovers only after it has had enough nodes for some time. The rule never
 * declares a site healthy if an operator marked it as failed.
 */
export function judgeSites({ members, config, nowMs }: Counted, counts: SiteCounts): SiteJudgement {
  const { after, recovery } = config.siteRules.failed;
  const verdicts: SiteVerdict[] = [];
  const waits: number[] = [];
  for (const { site, minNodes } of ruled(config)) {
    const count = counts.get(site);
    const { failed } = siteConfig(config, site);
    if (count === undefined || (failed !== null && !failed.byRule)) continue;
    if (count.isEnough === (failed === null)) continue;
    const leftMs = durationMs(count.isEnough ? recovery : after) - (nowMs - count.sinceMs);
    const nodes = `registered nodes: ${alive(site, members)}, required: ${minNodes}`;
    if (leftMs > 0) waits.push(leftMs);
    else verdicts.push({ site, isFailed: !count.isEnough, reason: nodes });
  }
  return { verdicts, waitMs: waits.length === 0 ? null : Math.min(...waits) };
}
