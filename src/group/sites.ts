/** Operations on sites. */

import { PetrelError, type Remedy } from '../errors.js';
import { writeDuration } from '../model/duration.js';
import {
  overrideInForce,
  priorityAfter,
  siteConfig,
  sitePriority,
  withOverride,
  withSites,
} from '../model/group-config.js';
import { toInstant, toWholeSecond } from '../model/names.js';
import type { ChangeInput, Request } from './change.js';
import { mustBeKnown } from './known-names.js';
import { siteNames } from './listing.js';

export interface PriorityRequest {
  readonly site: string;
  readonly priority: number;
  /**
   * How long the override applies, in milliseconds on the ensemble's clock. Null if it applies until it is
   * reset.
   */
  readonly forMs: number | null;
  /** Whether to accept a site that the group does not know. */
  readonly allowUnknown?: boolean;
}

/**
 * Overrides a site's priority, either for a limited time or until the priority is reset. When a temporary
 * override ends, an earlier override that lasts longer applies again.
 */
export function overridePriority({ site, priority, forMs, allowUnknown = false }: PriorityRequest): Request {
  return (input) => {
    mustBeKnownSite(input, site, allowUnknown);
    const { config, nowMs, byHand } = input;
    const settings = siteConfig(config, site);
    const until = forMs === null ? null : toInstant(nowMs + forMs);
    const override = withOverride(overrideInForce(settings, nowMs), { priority, until, ...byHand });
    const after = priorityAfter({ ...settings, override });
    const length =
      forMs === null || until === null
        ? 'until reset'
        : `for ${writeDuration(forMs)} until ${toWholeSecond(until)}, then ${after}`;
    return {
      config: withSites(config, [{ site, settings: { override } }]),
      what: `site ${site}: priority ${sitePriority(config, site, nowMs)} → ${priority}, ${length}`,
    };
  };
}

/** Ends all overrides of a site. */
export function resetPriority(site: string): Request {
  return (input) => {
    mustBeKnownSite(input, site);
    const { config, nowMs } = input;
    const settings = siteConfig(config, site);
    if (settings.override === null) {
      return { config: null, what: `site ${site} has no override: its priority is ${settings.priority}` };
    }
    const was = overrideInForce(settings, nowMs)?.priority ?? settings.priority;
    return {
      config: withSites(config, [{ site, settings: { override: null } }]),
      what: `site ${site}: override ended, priority ${was} → ${settings.priority}`,
    };
  };
}

/**
 * Removes all settings and state of a site from the configuration. The site is then unknown until a node
 * registers in it. Throws PetrelError REFUSED for a site that has nodes.
 */
export function forgetSite(site: string): Request {
  return (input) => {
    mustBeKnownSite(input, site);
    const { view, config } = input;
    const nodes = view.members.filter(({ value }) => value?.site === site).map(({ node }) => node);
    if (nodes.length > 0) {
      throw new PetrelError('REFUSED', `site ${site} has registered nodes, so it cannot be forgotten`, {
        reasons: [`registered in site ${site}: ${nodes.join(', ')}`],
      });
    }
    const sites = Object.fromEntries(Object.entries(config.sites).filter(([name]) => name !== site));
    return { config: { ...config, sites }, what: `site ${site}: forgotten` };
  };
}

/** Drains a site. No node of a drained site is elected. */
export function drainSite(site: string, allowUnknown = false): Request {
  return (input) => {
    mustBeKnownSite(input, site, allowUnknown);
    const { drained } = siteConfig(input.config, site);
    if (drained !== null) return { config: null, what: `site ${site} is already drained${byWhom(drained)}` };
    return {
      config: withSites(input.config, [{ site, settings: { drained: input.byHand } }]),
      what: `site ${site}: drained`,
    };
  };
}

export function undrainSite(site: string): Request {
  return (input) => {
    mustBeKnownSite(input, site);
    const { config } = input;
    if (siteConfig(config, site).drained === null)
      return { config: null, what: `site ${site} is not drained` };
    return {
      config: withSites(config, [{ site, settings: { drained: null } }]),
      what: `site ${site}: undrained`,
    };
  };
}

/**
 * Marks a site failed. No node of the site is elected, and a leader in the site is replaced like a failed
 * leader.
 */
export function markSiteFailed(site: string, allowUnknown = false): Request {
  return (input) => {
    mustBeKnownSite(input, site, allowUnknown);
    const { failed } = siteConfig(input.config, site);
    if (failed?.byRule === false)
      return { config: null, what: `site ${site} is already marked failed${byWhom(failed)}` };
    const settings = { failed: { byRule: false, ...input.byHand } };
    return { config: withSites(input.config, [{ site, settings }]), what: `site ${site}: marked failed` };
  };
}

/**
 * Marks a site healthy, even if a rule marked it failed. The rule then starts counting failures from zero
 * again.
 */
export function markSiteHealthy(site: string): Request {
  return (input) => {
    mustBeKnownSite(input, site);
    const { config } = input;
    if (siteConfig(config, site).failed === null)
      return { config: null, what: `site ${site} is not marked failed` };
    const settings = { failed: null };
    return { config: withSites(config, [{ site, settings }]), what: `site ${site}: marked healthy` };
  };
}

const allowing: Remedy = { kind: 'unknown', does: 'proceed before a node of the site joins' };

function mustBeKnownSite({ view, config }: ChangeInput, site: string, allowUnknown?: boolean): void {
  if (allowUnknown === true) return;
  mustBeKnown('site', site, siteNames(view, config), allowUnknown === undefined ? [] : [allowing]);
}

function byWhom(act: { by: string; at: string; reason: string } | null): string {
  return act === null ? '' : `, by ${act.by} at ${act.at}: ${act.reason}`;
}
