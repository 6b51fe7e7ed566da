/**
 * The group's shared configuration in `config`, which operators control. Every read and write goes through
 * this schema. It rejects unknown keys, so that a misspelled key is not silently ignored.
 */
import * as z from 'zod';
import { durationMs, durationSchema, durationWithin } from './duration.js';
import { fromInstant, instantSchema, nameSchema, strictObject } from './names.js';
import { rootSchema } from './paths.js';
import { plainMessage } from './plain-message.js';

/** Maximum number of leaders of a group. */
export const mostLeaders = 100;

const priority = z.int().min(0).max(1_000_000);

/** Who made a manual change, why, and when (on the ensemble's clock). */
const byHand = { by: z.string(), reason: z.string(), at: instantSchema };

const overrideSchema = strictObject({
  priority,
  /** End on the ensemble's clock. Null if it lasts until it is reset. */
  until: instantSchema.nullable(),
  ...byHand,
});

const siteSchema = strictObject({
  priority: priority.default(100),
  /** Who took the site out of service, and why. Null if it is in service. */
  drained: strictObject(byHand).nullable().default(null),
  override: overrideSchema.nullable().default(null),
  /** With fewer registered nodes, the site is marked failed. With 0, this never happens automatically. */
  minNodes: z.int().min(0).max(1000).default(0),
  /** Why the site is marked failed: by an operator, or by the `minNodes` rule. */
  failed: strictObject({ byRule: z.boolean().default(false), ...byHand })
    .nullable()
    .default(null),
});

/**
 * Maximum number of transitions that a circuit breaker may allow. Its record keeps no more than this, because
 * no group that shares it can count beyond.
 */
export const mostCircuitBreakerTransitions = 1000;

/** A soft rule ranks lower, a hard one excludes. */
const strength = z.enum(['soft', 'hard']);

export const switchoverSchema = strictObject({
  to: z.union(
    [strictObject({ node: nameSchema }), strictObject({ site: nameSchema }), z.literal('best-other')],
    'expected {"node": ID}, {"site": NAME} or "best-other"',
  ),
  /** The term that it replaces. The request has expired once the term has risen. */
  replacesTerm: z.int().min(0),
  /** Not before this instant. Null means immediately. */
  notBefore: instantSchema.nullable().default(null),
  /** Skips the target's eligibility, but never fencing. */
  force: z.boolean().default(false),
  /** The slot whose leader is replaced. Missing for the first slot. */
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
   * When leadership moves from a good leader to a better node. `auto`: once that node has been eligible for
   * `failbackHold`. `after:DURATION`: once it has been eligible for that long. `manual`: only when an
   * operator requests it.
   */
  failback: failbackSchema.default('auto'),
  failbackHold: durationSchema.default('5s'),
  /** A leader is not replaced by a better node before it has been READY for this long. */
  minLeadership: durationSchema.default('0s'),
  /** When a node with better scores replaces a leader, under a strategy that compares scores. */
  stabilization: strictObject({
    /** The other node must have been better for this long without a break. */
    window: durationSchema.default('1m'),
    /** Scores are compared at least this often. */
    interval: durationSchema.default('10s'),
  }).prefault({}),
  /** The group's very first election waits for this number of eligible nodes, but no longer than `within`. */
  firstElection: strictObject({
    nodes: z.int().min(1).max(1000).default(1),
    within: durationSchema.default('30s'),
  }).prefault({}),
  siteRules: strictObject({
    /** Sites that may lead. If none is named, all may. */
    only: strictObject({
      sites: z.array(nameSchema).max(100).default([]),
      strength: strength.default('hard'),
    }).prefault({}),
    /**
     * Where the successor of a failed leader may be. `another-site`: not in the site where it failed. Soft:
     * only while another site has an eligible node. Hard: even if none has.
     */
    afterFailure: strictObject({
      from: z.enum(['any-site', 'another-site']).default('any-site'),
      strength: strength.default('soft'),
    }).prefault({}),
    /** Where the leaders of different slots may be. `another-site`: in a site that has no other slot. */
    spread: strictObject({
      over: z.enum(['any-site', 'another-site']).default('any-site'),
      strength: strength.default('soft'),
    }).prefault({}),
    /** When a site fails by its `minNodes` rule. */
    failed: strictObject({
      /** It must have had too few nodes for this long without a break. */
      after: durationSchema.default('10s'),
      /** It must have had enough nodes for this long before it is marked healthy. */
      recovery: durationSchema.default('1m'),
      strength: strength.default('hard'),
    }).prefault({}),
  }).prefault({}),
  /** Where the leader must be in relation to another group's leader, in the same ZooKeeper. */
  affinity: strictObject({
    /** The other group's root. Null if there is no rule. */
    group: rootSchema.nullable().default(null),
    where: z.enum(['same-node', 'same-site', 'another-node', 'another-site']).default('same-node'),
    strength: strength.default('hard'),
  }).prefault({}),
  /** User-defined constraints that apply in addition to the built-in ones. */
  constraints: z.array(nameSchema).max(20).default([]),
  /** Limit on automatic moves of leadership. */
  circuitBreaker: strictObject({
    /**
     * Number of moves allowed within `within`. The next one pauses its group instead. 0 means no circuit
     * breaker.
     */
    transitions: z.int().min(0).max(mostCircuitBreakerTransitions).default(0),
    within: durationWithin({ minMs: 1 }).default('10m'),
    /** The znode that counts the moves of all groups that name it. Null means this group's own znode. */
    record: rootSchema
      .regex(
        /circuit-breaker$/,
        'expected a path that ends in circuit-breaker, such as /services-circuit-breaker (so that it cannot name another znode)',
      )
      .nullable()
      .default(null),
  }).prefault({}),
  timeouts: strictObject({
    /** From the election, with `current` free, to the claim. */
    claim: durationSchema.default('10s'),
    /** The prepare hook. Part of the claim timeout. */
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
  /**
   * Number of nodes that lead at the same time: slots 1 to `leaders`, each with its own leader, term and
   * fencing tokens.
   */
  leaders: z.int().min(1).max(mostLeaders).default(1),
  historySize: z.int().min(1).max(10_000).default(100),
  /**
   * An operator raises it to let fencing tokens start over, for example after an ensemble was restored from a
   * backup.
   */
  tokenEpoch: z.int().min(0).max(1_000_000).default(0),
  paused: strictObject(byHand).nullable().default(null),
  /** Who last resumed the group. The circuit breaker does not count moves before that. */
  resumed: strictObject(byHand).nullable().default(null),
  switchover: switchoverSchema.nullable().default(null),
  /** Nodes that an operator drained. They are not elected until they are undrained. */
  drained: z.record(nameSchema, strictObject(byHand)).default({}),
  /** Flags: conditions that operators name, for conditional rules. */
  flags: z.record(nameSchema, strictObject(byHand)).default({}),
  /** Failures that an operator cleared: the node, and the instant of its last cleared failure. */
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

/** A change of a site's settings. */
export interface SiteChange {
  readonly site: string;
  readonly settings: Partial<SiteConfig>;
}

export function withSites(config: GroupConfig, changes: readonly SiteChange[]): GroupConfig {
  const changed = changes.map(({ site, settings }) => [site, { ...siteConfig(config, site), ...settings }]);
  return { ...config, sites: { ...config.sites, ...Object.fromEntries(changed) } };
}

/** Returns the override in force at `nowMs` (epoch, the ensemble's clock). Null if there is none. */
export function overrideInForce(site: SiteConfig, nowMs: number): SiteOverride | null {
  const { override } = site;
  if (override === null) return null;
  return override.until === null || fromInstant(override.until) > nowMs ? override : null;
}

export function sitePriority(config: GroupConfig, site: string, nowMs: number): number {
  const settings = siteConfig(config, site);
  return overrideInForce(settings, nowMs)?.priority ?? settings.priority;
}

/**
 * Returns how long a better node must have been eligible before failback, in milliseconds. Null if failback
 * never happens automatically.
 */
export function failbackDelayMs(config: GroupConfig): number | null {
  if (config.failback === 'manual') return null;
  if (config.failback === 'auto') return durationMs(config.failbackHold);
  return durationMs(config.failback.slice('after:'.length));
}
