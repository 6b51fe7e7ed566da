/**
 * Rules about sites, as docs/guides/sites.md describes them: which sites must not lead, which come last,
 * where a failed leader's successor may be, and when a site has failed. The rules judge by the configuration
 * and the registrations.
 */
import { durationMs } from '../../src/model/duration.js';
import type { GroupConfig } from '../../src/model/group-config.js';
import type { Violate } from './judge.js';
import type { Picture } from './ledger.js';
import { reconnectMs } from './pace.js';
import type { Rule, RuleContext, Step } from './rules.js';
import { failuresKnown } from './rules-of-limits.js';
import { isCrowded, isGivenUp, isTaken } from './slots-seen.js';

/** Factor that allows for clocks of different rates. */
const slack = 0.9;

interface Refusal {
  readonly kind: string;
  readonly why: string;
}

function found(config: GroupConfig, site: string, strength: 'hard' | 'soft'): Refusal[] {
  const { only, failed } = config.siteRules;
  const isOut = only.sites.length > 0 && !only.sites.includes(site) && only.strength === strength;
  const declared = config.sites[site]?.failed ?? null;
  // The verdict of an operator is always a hard rule.
  const declaredStrength = declared?.byRule === true ? failed.strength : 'hard';
  return [
    ...(isOut ? [{ kind: 'site-not-allowed', why: 'its site may not lead' }] : []),
    ...(declared !== null && declaredStrength === strength
      ? [{ kind: 'site-failed', why: 'its site has failed' }]
      : []),
  ];
}

/** Returns the reasons that forbid every node of a site to lead. */
export function refusals(config: GroupConfig, site: string): Refusal[] {
  return found(config, site, 'hard');
}

/** Whether the nodes of a site are ranked after all others. */
export function isAvoided(config: GroupConfig, site: string): boolean {
  return found(config, site, 'soft').length > 0;
}

/** Whether no node of a site may be elected. A failed leader in the site may also be the reason. */
export function isBarred(picture: Picture, site: string): boolean {
  const { config, elected } = picture;
  if (config === null) return false;
  const { from, strength } = config.content.siteRules.afterFailure;
  const isFailedSite = elected?.content.node === null && elected.content.failedSite === site;
  return (
    refusals(config.content, site).length > 0 ||
    isCrowded(picture, site) ||
    (from === 'another-site' && strength === 'hard' && isFailedSite)
  );
}

/**
 * Returns the site of a failed leader that must be replaced. Null if the leader has not failed, if it leaves
 * or operators want it to be replaced, or if the site is unknown.
 */
export function siteOfFailure({ was, is }: Pick<Step, 'was' | 'is'>): string | null {
  const before = was.elected?.content;
  const config = was.config?.content;
  if (before === undefined || config === undefined) return null;
  const { node, failures } = before;
  if (node === null) return before.failedSite;
  const registration = was.registrations.get(node);
  if (registration === undefined) return before.site;
  const { site } = registration.content;
  const settings = config.sites[site];
  const isWished =
    before.requested !== null ||
    Object.hasOwn(config.drained, node) ||
    settings?.drained != null ||
    settings?.priority === 0 ||
    settings?.override?.priority === 0;
  if (isWished || registration.leavingSinceMs !== null) return null;
  const inOthers = [...was.others, ...is.others].flatMap(({ elected }) => elected?.content.failures ?? []);
  const backsOff = [...failures, ...(is.elected?.content.failures ?? []), ...inOthers].some(
    (record) => record.node === node && record.until !== null,
  );
  const isIneligible = registration.illSinceMs !== null || refusals(config, site).length > 0 || backsOff;
  return isIneligible ? site : null;
}

/**
 * A period in which two things did not change: whether the site had enough nodes, and the verdict about the
 * site.
 */
interface Stretch {
  readonly key: string;
  readonly isEnough: boolean;
  readonly sinceMs: number;
  /** Start of the period as seen by an elector that missed every change that it may miss. */
  readonly mayBeSinceMs: number;
  untilMs: number;
}

type Failed = GroupConfig['sites'][string]['failed'];

export function siteRules(context: RuleContext): Rule {
  const { promptMs, setup } = context;
  /** Maximum duration of a change that an elector may miss. */
  const missableMs = promptMs + reconnectMs(setup);
  /** Periods of each site in chronological order. */
  const stretches = new Map<string, Stretch[]>();
  const then = new WeakMap<Picture, ReadonlyMap<string, Stretch>>();
  let lastConfig: GroupConfig | undefined;

  function count({ is, nowMs }: Step): void {
    // Without a configuration, electors judge by the last one, and restore it.
    const config = is.config?.content ?? lastConfig;
    lastConfig = config;
    for (const [site, { minNodes, failed }] of Object.entries(config?.sites ?? {})) {
      const isEnough = nodesIn(is, site) >= minNodes;
      enter(site, { key: `${isEnough} ${textOf(failed)}`, isEnough, nowMs });
    }
    then.set(
      is,
      new Map([...stretches].flatMap(([site, known]) => known.slice(-1).map((one) => [site, one]))),
    );
  }

  function enter(
    site: string,
    { key, isEnough, nowMs }: { key: string; isEnough: boolean; nowMs: number },
  ): void {
    const known = stretches.get(site) ?? [];
    stretches.set(site, known);
    const last = known.at(-1);
    if (last?.key === key) return;
    if (last !== undefined) last.untilMs = nowMs;
    const same = known.findLast((one) => one.key === key);
    const wasMissed = same !== undefined && (nowMs - same.untilMs < missableMs || !context.isCalm);
    const mayBeSinceMs = wasMissed ? same.mayBeSinceMs : nowMs;
    known.push({ key, isEnough, sinceMs: nowMs, mayBeSinceMs, untilMs: Number.POSITIVE_INFINITY });
  }

  /**
   * Checks that an elector declares a site failed or healthy only if it has counted the site's nodes itself
   * for long enough.
   */
  function declared(step: Step): void {
    if (step.isByHand || step.is.config === step.was.config) return;
    context.judged(step, (view, complain) => {
      const [was, is] = [view.was.config, view.is.config];
      if (was === null || is === null || was.id !== is.id) return;
      for (const [site, { failed }] of Object.entries(is.content.sites)) {
        const before = was.content.sites[site]?.failed ?? null;
        if (textOf(before) !== textOf(failed)) changed({ site, before, after: failed }, view, complain);
      }
    });
  }

  function changed(
    { site, before, after }: { site: string; before: Failed; after: Failed },
    { was, nowMs }: Step,
    complain: Violate,
  ): void {
    const verdict = after === null ? `site ${site}: marked healthy` : `site ${site}: marked failed`;
    if (before?.byRule === false) complain(9, `${verdict}, and a person said that it has failed`);
    else if (after?.byRule === false) complain(9, `${verdict}, by no person`);
    else if ((before === null) === (after === null)) complain(9, `${verdict} once more`);
    const { failed: rule } = was.config?.content.siteRules ?? {};
    const present = then.get(was)?.get(site);
    const stretch =
      present?.isEnough === (after === null) ? present : (heldUp(site, after === null, nowMs) ?? present);
    if (rule === undefined || stretch === undefined) return;
    const dueMs = durationMs(after === null ? rule.recovery : rule.after) * slack;
    const countedMs = nowMs - Math.max(stretch.mayBeSinceMs, was.electorSinceMs);
    if (stretch.isEnough !== (after === null)) complain(9, `${verdict}, and is not that by its nodes`);
    else if (countedMs < dueMs)
      complain(9, `${verdict} after ${Math.round(countedMs)} ms in which its elector can have counted that`);
  }

  /**
   * Returns the period that a delayed write may be based on. A write may be under way until its session ends.
   * It checks the version of the configuration, but not the registrations.
   */
  function heldUp(site: string, isEnough: boolean, nowMs: number): Stretch | undefined {
    const known = stretches.get(site) ?? [];
    return known.findLast((one) => one.isEnough === isEnough && nowMs - one.untilMs < setup.sessionTimeoutMs);
  }

  /** Checks that a verdict is declared when it has been due for long enough. */
  function declaredInTime({ was, is, nowMs }: Step): void {
    if (is.config === null) return;
    const { failed: rule } = is.config.content.siteRules;
    for (const [site, { minNodes, failed }] of Object.entries(is.config.content.sites)) {
      const stretch = then.get(is)?.get(site);
      const isRuled = (minNodes > 0 || failed !== null) && failed?.byRule !== false;
      if (stretch === undefined || !isRuled || stretch.isEnough === (failed === null)) continue;
      if (stretch.sinceMs !== nowMs && is.config === was.config) continue;
      const dueMs = durationMs(stretch.isEnough ? rule.recovery : rule.after) * 1.1 + 2 * promptMs;
      const isWrong = (): string | null => {
        if (then.get(context.picture())?.get(site) !== stretch) return null;
        const inOfficeMs = context.electorForMs();
        if (inOfficeMs >= dueMs)
          return `site ${site} has had ${stretch.isEnough ? 'enough nodes' : 'too few nodes'} for long, and nobody says so`;
        context.soon(dueMs - inOfficeMs, 9, isWrong);
        return null;
      };
      context.soon(dueMs, 9, isWrong);
    }
  }

  return (step) => {
    count(step);
    declared(step);
    declaredInTime(step);
  };
}

/** Rules about succession, in particular after a failure of the leader. */
export function successionRules(context: RuleContext): Rule {
  const { promptMs } = context;

  function followed(step: Step): void {
    context.judged(step, ({ was, is, nowMs }, complain) => {
      const before = was.elected;
      const after = is.elected;
      const config = is.config?.content;
      if (before === null || after === null || before.id !== after.id || config === undefined) return;
      const { term, node: to, requested, failedSite: recordedSite } = after.content;
      if (before.content.term === 0 || term === before.content.term) return;
      // If operators requested the node in spite of ineligible reasons, this rule does not judge whether the
      // node has failed.
      if (config.paused !== null || requested !== null || before.content.requested !== null) return;
      if (isGivenUp(is)) return;
      const failedSite = siteOfFailure({ was, is });
      const { from, strength } = config.siteRules.afterFailure;
      const candidate = (sites: (site: string) => boolean) =>
        eligibleFor(was, nowMs).find(([node, site]) => node !== before.content.node && sites(site))?.[0];
      const isTied = from === 'another-site' && failedSite !== null;
      if (to === null) {
        const other = candidate((site) => !isTied || strength === 'soft' || site !== failedSite);
        if (other !== undefined) complain(9, `no node is elected any more, though ${other} is eligible`);
      } else if (isTied && was.registrations.get(to)?.content.site === failedSite) {
        const other = candidate((site) => site !== failedSite);
        if (strength === 'hard') complain(9, `${to} is elected, and a leader has failed in its site`);
        else if (other !== undefined)
          complain(9, `${to} is elected, and not ${other}, though a leader has failed in its site`);
      }
      if (failedSite !== null && recordedSite !== failedSite)
        complain(9, `a leader has failed in site ${failedSite}, but the decision names ${recordedSite}`);
    });
  }

  /**
   * Returns the nodes that have been eligible for a while, by the simplest criteria. Each node comes with its
   * site.
   */
  function eligibleFor(picture: Picture, nowMs: number): [string, string][] {
    const { registrations, seats, config } = picture;
    if (config === null) return [];
    const { drained, sites } = config.content;
    return [...registrations].flatMap(
      ([node, { content, illSinceMs, leavingSinceMs, lastIllMs, sinceMs }]) => {
        const { site } = content;
        const settings = sites[site];
        const isSiteEligible =
          settings?.drained == null && settings?.priority !== 0 && settings?.override == null;
        const isWell = illSinceMs === null && leavingSinceMs === null && drained[node] === undefined;
        const isLong = nowMs - Math.max(sinceMs, lastIllMs, config.changedMs) >= promptMs;
        const isFree = !isTaken(picture, node) && !isCrowded(picture, site);
        const hasFailed = failuresKnown(picture, node).length > 0;
        const isSeated = seats.some((seat) => seat.node === node);
        const isEligible = isSiteEligible && isWell && isLong && isSeated && isFree && !hasFailed;
        return isEligible && refusals(config.content, site).length === 0 ? [[node, site]] : [];
      },
    );
  }

  return followed;
}

function textOf(failed: Failed): string {
  return failed === null ? 'whole' : `failed at ${failed.at}, says ${failed.by}`;
}

function nodesIn({ registrations }: Picture, site: string): number {
  return [...registrations.values()].filter(({ content }) => content.site === site).length;
}
