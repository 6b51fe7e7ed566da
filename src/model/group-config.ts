/**
 * The group's shared configuration, as `config` in ZooKeeper holds it: what operators decide. Every write and
 * every read goes through this schema; unknown keys are refused, so that a misspelt one is not silently
 * without effect.
 */
import * as z from 'zod';
import { durationMs, durationSchema, durationWithin } from './duration.js';
import { fromInstant, instantSchema, nameSchema, strictObject } from './names.js';
import { rootSchema } from './paths.js';
import { plainMessage } from './plain-message.js';

/** How many leaders a group may have. */
export const mostLeaders = 100;

const priority = z.int().min(0).max(1_000_000);

/** Who did something by hand, why, and when (on the ensemble's clock). */
const byHand = { by: z.string(), reason: z.string(), at: instantSchema };

const overrideSchema = strictObject({
  priority,
  /** End on the ensemble's clock; null lasts until it is reset. */
  until: instantSchema.nullable(),
  ...byHand,
});

const siteSchema = strictObject({
  priority: priority.default(100),
  /** Who took the site out of service, and why; null: it is in service. */
  drained: strictObject(byHand).nullable().default(null),
  override: overrideSchema.nullable().default(null),
  /** With fewer nodes registered the site is marked failed; 0: it never does by itself. */
  minNodes: z.int().min(0).max(1000).default(0),
  /** Why the site is marked failed: by an operator, or by the rule of `minNodes`. */
  failed: strictObject({ byRule: z.boolean().default(false), ...byHand })
    .nullable()
    .default(null),
});

/**
 * The most that a circuit breaker may let pass. What its record holds beyond that no group that shares it can
 * still count.
 */
export const mostCircuitBreakerTransitions = 1000;

/** A soft rule prefers, a hard one refuses. */
const strength = z.enum(['soft', 'hard']);

export const switchoverSchema = strictObject({
  to: z.union(
    [strictObject({ node: nameSchema }), strictObject({ site: nameSchema }), z.literal('best-other')],
    'expected {"node": ID}, {"site": NAME} or "best-other"',
  ),
  /** The term it replaces: once the term has risen the request is spent. */
  replacesTerm: z.int().min(0),
  /** Not before this instant; null at once. */
  notBefore: instantSchema.nullable().default(null),
  /** Skips the target's eligibility, never fencing. */
  force: z.boolean().default(false),
  /** Whose leader it is about; missing: that of the first. */
  slot: z.int().min(1).max(mostLeaders).optional(),
  ...byHand,
});

const failbackDelay = /^after:(.*)$/;
const failbackSchema = z.string().superRefine((input, context) => {
  if (input === 'auto' || input === 'manual') return;
  const delay = failbackDelay.exec(input)?.[1];
  const read = delay === undefined ? null : durationSchema.safeParse(delay);
  if (read?.success === true) return;
  const rule = 'expected auto, manual, or after:DURATION (such as after:10m)';
  const issues = read === null ? [] : read.error.issues.map(({ message }) => plainMessage(message));
  context.addIssue({ code: 'custom', message: [rule, ...issues].join('; '), input });
});

export const groupConfigSchema = strictObject({
  strategy: z.string().default('site-priority'),
  strategyOptions: z.record(z.string(), z.unknown()).default({}),
  sites: z.record(nameSchema, siteSchema).default({}),
  /**
   * When leadership leaves a good leader for a better node: `auto`, once that node has been eligible for
   * `failbackHold`; `after:DURATION`, once it has been eligible that long; `manual`, only when a person asks.
   */
  failback: failbackSchema.default('auto'),
  failbackHold: durationSchema.default('5s'),
  /** A leader is not left for a better node before it has been READY this long. */
  minLeadership: durationSchema.default('0s'),
  /** When a leader is left for a node that measures better, under a strategy that compares scores. */
  stabilization: strictObject({
    /** The other must have been better so long without a break. */
    window: durationSchema.default('1m'),
    /** Scores are compared at least this often. */
    interval: durationSchema.default('10s'),
  }).prefault({}),
  /** The very first election of the group waits for so many eligible nodes, but no longer than `within`. */
  firstElection: strictObject({
    nodes: z.int().min(1).max(1000).default(1),
    within: durationSchema.default('30s'),
  }).prefault({}),
  siteRules: strictObject({
    /** Sites that may lead; where none is named, all may. */
    only: strictObject({
      sites: z.array(nameSchema).max(100).default([]),
      strength: strength.default('hard'),
    }).prefault({}),
    /**
     * Where the successor of a leader that failed may be. `another-site`: not in the site that it failed in;
     * soft, as long as another site has an eligible node; hard, even if none has.
     */
    afterFailure: strictObject({
      from: z.enum(['any-site', 'another-site']).default('any-site'),
      strength: strength.default('soft'),
    }).prefault({}),
    /**
     * Where a leader may be beside those of the other slots. `another-site`: in a site that holds no other
     * slot.
     */
    spread: strictObject({
      over: z.enum(['any-site', 'another-site']).default('any-site'),
      strength: strength.default('soft'),
    }).prefault({}),
    /** When a site fails by the rule of its `minNodes`. */
    failed: strictObject({
      /** It must have had too few nodes for so long without a break. */
      after: durationSchema.default('10s'),
      /** And enough for so long, until it is marked healthy. */
      recovery: durationSchema.default('1m'),
      strength: strength.default('hard'),
    }).prefault({}),
  }).prefault({}),
  /** Where the leader has to be for another group's, in the same ZooKeeper. */
  affinity: strictObject({
    /** The other group's root; null: no rule. */
    group: rootSchema.nullable().default(null),
    where: z.enum(['same-node', 'same-site', 'another-node', 'another-site']).default('same-node'),
    strength: strength.default('hard'),
  }).prefault({}),
  /** Constraints of users' own that hold, beside the built-in ones. */
  constraints: z.array(nameSchema).max(20).default([]),
  /** When leaderships that move by themselves are too many. */
  circuitBreaker: strictObject({
    /** So many may move within `within`; the next pauses its group instead. 0: no circuit breaker. */
    transitions: z.int().min(0).max(mostCircuitBreakerTransitions).default(0),
    within: durationWithin({ minMs: 1 }).default('10m'),
    /** The znode that counts them, for all groups that name it; null: one of this group's own. */
    record: rootSchema
      .regex(
        /circuit-breaker$/,
        'expected a path that ends in circuit-breaker, such as /services-circuit-breaker (so that it cannot name another znode)',
      )
      .nullable()
      .default(null),
  }).prefault({}),
  timeouts: strictObject({
    /** From being elected, with `current` free, to the claim. */
    claim: durationSchema.default('10s'),
    /** The prepare hook; part of the time to claim. */
    prepare: durationSchema.default('5s'),
    takeover: durationSchema.default('60s'),
    release: durationSchema.default('30s'),
    fence: durationSchema.default('30s'),
    /** From SIGTERM to SIGKILL. */
    grace: durationSchema.default('2s'),
  }).prefault({}),
  backoff: strictObject({
    base: durationSchema.default('10s'),
    max: durationSchema.default('10m'),
  }).prefault({}),
  /** How many nodes lead at once: slots 1 to `leaders`, each with its own leader, term and fencing tokens. */
  leaders: z.int().min(1).max(mostLeaders).default(1),
  historySize: z.int().min(1).max(10_000).default(100),
  /** Raised by a person to let fencing tokens begin anew, as after an ensemble was restored from a backup. */
  tokenEpoch: z.int().min(0).max(1_000_000).default(0),
  paused: strictObject(byHand).nullable().default(null),
  /** Who resumed it last: what the circuit breaker counted before is forgotten. */
  resumed: strictObject(byHand).nullable().default(null),
  switchover: switchoverSchema.nullable().default(null),
  /** Nodes that a person took out: never elected until taken back. */
  drained: z.record(nameSchema, strictObject(byHand)).default({}),
  /** Conditions that operators name, for conditional rules. */
  flags: z.record(nameSchema, strictObject(byHand)).default({}),
  /** Failures that a person forgave: the node, and the instant of its last failure that is forgiven. */
  clearedFailures: z.record(nameSchema, strictObject({ failedAt: instantSchema, ...byHand })).default({}),
});

export type GroupConfig = z.infer<typeof groupConfigSchema>;
export type SiteConfig = z.infer<typeof siteSchema>;
export type SiteOverride = z.infer<typeof overrideSchema>;
export type SwitchoverRequest = z.infer<typeof switchoverSchema>;

export const defaultGroupConfig: GroupConfig = groupConfigSchema.parse({});
const defaultSite: SiteConfig = siteSchema.parse({});

export function siteConfig(config: GroupConfig, site: string): SiteConfig {
  return Object.hasOwn(config.sites, site) ? (config.sites[site] ?? defaultSite) : defaultSite;
}

/** What is to become of a site's settings. */
export interface SiteChange {
  readonly site: string;
  readonly settings: Partial<SiteConfig>;
}

export function withSites(config: GroupConfig, changes: readonly SiteChange[]): GroupConfig {
  const changed = changes.map(({ site, settings }) => [site, { ...siteConfig(config, site), ...settings }]);
  return { ...config, sites: { ...config.sites, ...Object.fromEntries(changed) } };
}

/** The override in force at `nowMs` (epoch, the ensemble's clock), if any. */
export function overrideInForce(site: SiteConfig, nowMs: number): SiteOverride | null {
  const { override } = site;
  if (override === null) return null;
  return override.until === null || fromInstant(override.until) > nowMs ? override : null;
}

export function sitePriority(config: GroupConfig, site: string, nowMs: number): number {
  const settings = siteConfig(config, site);
  return overrideInForce(settings, nowMs)?.priority ?? settings.priority;
}

/** Null: never by itself. Otherwise how long a better node must have been eligible, in milliseconds. */
export function failbackDelayMs(config: GroupConfig): number | null {
  if (config.failback === 'manual') return null;
  if (config.failback === 'auto') return durationMs(config.failbackHold);
  return durationMs(config.failback.slice('after:'.length));
}
