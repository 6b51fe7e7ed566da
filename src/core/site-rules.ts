/**
 * Rules about sites that are no constraint on one node: where the successor of a leader that failed may be,
 * and when a site as a whole counts as failed.
 */

import { durationMs } from '../model/duration.js';
import { type GroupConfig, siteConfig } from '../model/group-config.js';
import { type Member, siteOf } from '../model/snapshot.js';
import type { Ranked } from '../model/strategy.js';

/**
 * Whether a node of `site` may be tried after a leader failed in `failedSite`, even where there is no other.
 */
export function mayFollow(site: string | null, failedSite: string | null, config: GroupConfig): boolean {
  const { from, strength } = config.siteRules.afterFailure;
  return from === 'any-site' || strength === 'soft' || failedSite === null || site !== failedSite;
}

/** Whom a leader that failed may be replaced by. */
export interface Replacement {
  /** Null: by nobody, for now. */
  readonly best: Ranked | null;
  /** For people: what the rule made of it; null where it changed nothing. */
  readonly why: string | null;
}

/** The best of `ranking` (one at least) to replace a leader of `failedSite`, which failed. */
export function replacement(
  ranking: readonly [Ranked, ...Ranked[]],
  failedSite: string | null,
  members: readonly Member[],
  config: GroupConfig,
): Replacement {
  const [best] = ranking;
  if (
    config.siteRules.afterFailure.from === 'any-site' ||
    failedSite === null ||
    siteOf(best.node, members) !== failedSite
  ) {
    return { best, why: null };
  }
  const elsewhere = ranking.find(({ node }) => siteOf(node, members) !== failedSite);
  const rule = `a leader that failed in site ${failedSite} must be replaced from another site`;
  if (elsewhere !== undefined) return { best: elsewhere, why: rule };
  if (mayFollow(failedSite, failedSite, config))
    return { best, why: `${rule}, but no other site has an eligible node` };
  return { best: null, why: `${rule}, and no other site has an eligible node` };
}

/** A site that is to be declared failed by the rule, or no longer. */
export interface SiteVerdict {
  readonly site: string;
  readonly isFailed: boolean;
  /** For people. */
  readonly reason: string;
}

interface SiteCount {
  readonly isEnough: boolean;
  /** When it was declared failed, as that stands: whatever is said of the site begins a new count. */
  readonly failedAt: string | null;
  /** On the elector's monotonic clock. */
  readonly sinceMs: number;
}

/** Since when each site that has a rule has had nodes enough, or too few. */
export type SiteCounts = ReadonlyMap<string, SiteCount>;

interface Counted {
  readonly members: readonly Member[];
  readonly config: GroupConfig;
  /** Monotonic. */
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

/** What `before` becomes by who is registered now. */
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
  /** Until the next may be due; null: none is coming. */
  readonly waitMs: number | null;
}

/**
 * Which sites are to be declared failed, and which no longer. A site fails and recovers only after it has had
 * too few nodes, or enough, for some time without a break; what a person declared no rule takes back.
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
    const nodes = `only ${alive(site, members)} of its nodes are registered, but ${minNodes} are required`;
    if (leftMs > 0) waits.push(leftMs);
    else verdicts.push({ site, isFailed: !count.isEnough, reason: nodes });
  }
  return { verdicts, waitMs: waits.length === 0 ? null : Math.min(...waits) };
}
