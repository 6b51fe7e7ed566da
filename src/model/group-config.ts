/**
 * The group's shared configuration in the `config` znode, which operators control. Every read and write uses
 * this schema. The schema rejects unknown keys, so that a misspelled key is not silently ignored.
 */
import * as z from 'zod';
import { durationMs, durationSchema, durationWithin } from './duration.js';
import { fromInstant, instantSchema, nameSchema, strictObject } from './names.js';
import { rootSchema } from './paths.js';
import { plainMessage } from './plain-message.js';

/** Maximum number of leaders in a group. */
export const mostLeaders = 100;

const priority = z.int().min(0).max(1_000_000);

/** Fields of a manual change: who made it, why, and when. The time is on the ensemble's clock. */
const byHand = { by: z.string(), reason: z.string(), at: instantSchema };

const plainOverride = {
  priority,
  /**
   * End of the override, on the ensemble's clock. Null if the override remains until an operator resets it.
   */
  until: instantSchema.nullable(),
  ...byHand,
};

const overrideSchema = strictObject({
  ...plainOverride,
  /** Earlier overrides that apply again when this one ends. Each lasts longer than the one before it. */
  suspended: z.array(strictObject(plainOverride)).optional(),
});

const siteSchema = strictObject({
  priority: priority.default(100),
  /** Who drained the site, and why. Null if the site is in service. */
  drained: strictObject(byHand).nullable().default(null),
  override: overrideSchema.nullable().default(null),
  /**
   * Number of registered nodes below which the site is marked as failed. With 0, the site is never marked as
   * failed automatically.
   */
  minNodes: z.int().min(0).max(1000).default(0),
  /** Why the site is marked as failed, by an operator or by the `minNodes` rule. Null if it is not. */
  failed: strictObject({ byRule: z.boolean().default(false), ...byHand })
    .nullable()
    .default(null),
});

/**
 * Maximum number of transitions that a circuit breaker may allow. The record does not keep more entries than
 * this, because no group that shares the record can count more.
 */
export const mostCircuitBreakerTransitions = 1000;

/** A soft rule ranks a node lower, and a hard rule excludes it. */
const strength = z.enum(['soft', 'hard']);

export const switchoverSchema = strictObject({
  to: z.union(
    [strictObject({ node: nameSchema }), strictObject({ site: nameSchema }), z.literal('best-other')],
    'expected {"node": ID}, {"site": NAME} or "best-other"',
  ),
  /** The term that the switchover replaces. The request has expired once the group's term is greater. */
  replacesTerm: z.int().min(0),
  /** Earliest instant of the switchover. Null means immediately. */
  notBefore: instantSchema.nullable().default(null),
  /** Whether the request ignores the target's eligibility. It never ignores fencing. */
  force: z.boolean().default(false),
  /** The slot whose leader the switchover replaces. Missing for the first slot. */
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
   * When leadership moves from a good leader to a better node.
   * - `auto`: once that node has been eligible for `failbackHold`.
   * - `after:DURATION`: once that node has been eligible for this time.
   * - `manual`: only when an operator requests it.
   */
  failback: failbackSchema.default('auto'),
  failbackHold: durationSchema.default('5s'),
  /** Minimum time for which a leader must have been READY before a better node replaces it. */
  minLeadership: durationSchema.default('0s'),
  /** When a node with better scores replaces a leader. Applies only to strategies that compare scores. */
  stabilization: strictObject({
    /** Time for which the other node must continuously have been better. */
    window: durationSchema.default('1m'),
    /** Longest time between comparisons of scores. */
    interval: durationSchema.default('10s'),
  }).prefault({}),
  /** The group's very first election waits for this number of eligible nodes, but no longer than `within`. */
  firstElection: strictObject({
    nodes: z.int().min(1).max(1000).default(1),
    within: durationSchema.default('30s'),
  }).prefault({}),
  siteRules: strictObject({
    /** Sites that may lead. If the list is empty, all sites may lead. */
    only: strictObject({
      sites: z.array(nameSchema).max(100).default([]),
      strength: strength.default('hard'),
    }).prefault({}),
    /**
     * Where the successor of a failed leader may be. With `another-site`, it must not be in the site where
     * the leader failed. With strength `soft`, this applies only while another site has an eligible node.
     * With `hard`, it always applies.
     */
    afterFailure: strictObject({
      from: z.enum(['any-site', 'another-site']).default('any-site'),
      strength: strength.default('soft'),
    }).prefault({}),
    /**
     * Where the leaders of different slots may be. With `another-site`, each must be in a site that has no
     * leader of another slot.
     */
    spread: strictObject({
      over: z.enum(['any-site', 'another-site']).default('any-site'),
      strength: strength.default('soft'),
    }).prefault({}),
    /** When a site fails according to its `minNodes` rule, and when it recovers. */
    failed: strictObject({
      /** Time for which a site must continuously have had too few nodes before it is marked as failed. */
      after: durationSchema.default('10s'),
      /** Time for which a site must have had enough nodes before it is marked as healthy. */
      recovery: durationSchema.default('1m'),
      strength: strength.default('hard'),
    }).prefault({}),
  }).prefault({}),
  /**
   * Where this group's leader must be in relation to the leader of another group in the same ZooKeeper
   * ensemble.
   */
  affinity: strictObject({
    /** Root path of the other group. Null if there is no affinity rule. */
    group: rootSchema.nullable().default(null),
    where: z.enum(['same-node', 'same-site', 'another-node', 'another-site']).default('same-node'),
    strength: strength.default('hard'),
  }).prefault({}),
  /** User-defined constraints that apply in addition to the built-in ones. */
  constraints: z.array(nameSchema).max(20).default([]),
  /** Limit on automatic moves of leadership. */
  circuitBreaker: strictObject({
    /**
     * Number of moves that are allowed within the time `within`. If another move becomes due, its group is
     * paused instead. With 0, there is no circuit breaker.
     */
    transitions: z.int().min(0).max(mostCircuitBreakerTransitions).default(0),
    within: durationWithin({ minMs: 1 }).default('10m'),
    /**
     * The znode that counts the moves of all groups whose configuration names it. Null means that this group
     * has its own znode.
     */
    record: rootSchema
      .regex(
        /circuit-breaker$/,
        'expected a path that ends in circuit-breaker, such as /services-circuit-breaker (so that it cannot name another znode)',
      )
      .nullable()
      .default(null),
  }).prefault({}),
  timeouts: strictObject({
    /** Longest time that an elected node may take to make its claim while no other claim exists. */
    claim: durationSchema.default('10s'),
    /** Time limit of the prepare hook. This time is part of the claim timeout. */
    prepare: durationSchema.default('5s'),
    takeover: durationSchema.default('60s'),
    release: durationSchema.default('30s'),
    fence: durationSchema.default('30s'),
    /** Time from SIGTERM to SIGKILL. */
    grace: durationSchema.default('2s'),
  }).prefault({}),
  backoff: strictObject({
    base: durationSchema.default('10s'),
    max: durationSchema.default('10m'),
  }).prefault({}),
  /**
   * Number of nodes that lead at the same time. Each slot from 1 to `leaders` has its own leader, term and
   * fencing tokens.
   */
  leaders: z.int().min(1).max(mostLeaders).default(1),
  historySize: z.int().min(1).max(10_000).default(100),
  /**
   * Epoch of the fencing tokens. An operator raises it to let fencing tokens start over, for example after an
   * ensemble has been restored from a backup.
   */
  tokenEpoch: z.int().min(0).max(1_000_000).default(0),
  paused: strictObject(byHand).nullable().default(null),
  /** Who last resumed the group. The circuit breaker does not count moves before that time. */
  resumed: strictObject(byHand).nullable().default(null),
  switchover: switchoverSchema.nullable().default(null),
  /** Nodes that an operator drained. They are not elected until they are undrained. */
  drained: z.record(nameSchema, strictObject(byHand)).default({}),
  /** Flags that operators have set. A flag is a condition that conditional rules can use. */
  flags: z.record(nameSchema, strictObject(byHand)).default({}),
  /** For each node, the failure that an operator cleared. The time of the failure identifies it. */
  clearedFailures: z.record(nameSchema, strictObject({ failedAt: instantSchema, ...byHand })).default({}),
});

export type GroupConfig = z.infer<typeof groupConfigSchema>;
export type SiteConfig = z.infer<typeof siteSchema>;
export type SiteOverride = z.infer<typeof overrideSchema>;
type PlainOverride = Omit<SiteOverride, 'suspended'>;
export type SwitchoverRequest = z.infer<typeof switchoverSchema>;

export const defaultGroupConfig: GroupConfig = groupConfigSchema.parse({});
const defaultSite: SiteConfig = siteSchema.parse({});

export function siteConfig(config: GroupConfig, site: string): SiteConfig {
  return Object.hasOwn(config.sites, site) ? (config.sites[site] ?? defaultSite) : defaultSite;
}

/** A change to a site's settings. */
export interface SiteChange {
  readonly site: string;
  readonly settings: Partial<SiteConfig>;
}

/** Applies changes to sites. If a changed site then has only default settings, removes its entry. */
export function withSites(config: GroupConfig, changes: readonly SiteChange[]): GroupConfig {
  const changed = changes.map(({ site, settings }) => [site, { ...siteConfig(config, site), ...settings }]);
  const sites: GroupConfig['sites'] = { ...config.sites, ...Object.fromEntries(changed) };
  const kept = Object.entries(sites).filter(([name, settings]) => {
    const isChanged = changes.some(({ site }) => site === name);
    return !(isChanged && siteKeys.every((key) => settings[key] === defaultSite[key]));
  });
  return { ...config, sites: Object.fromEntries(kept) };
}

const siteKeys = siteSchema.keyof().options;

/**
 * Returns the override that is in force at `nowMs`. Returns null if there is none. `nowMs` is in milliseconds
 * since the epoch, on the ensemble's clock.
 */
export function overrideInForce({ override }: SiteConfig, nowMs: number): SiteOverride | null {
  if (override === null) return null;
  const all = chainOf(override);
  const left = all.filter(({ until }) => until === null || fromInstant(until) > nowMs);
  return left.length === all.length ? override : fromChain(left);
}

/**
 * Returns the override that results from putting `added` in front of `present`. Overrides that end later than
 * `added` remain behind it. The others are dropped, because they can never apply again.
 */
export function withOverride(present: SiteOverride | null, added: PlainOverride): SiteOverride {
  const later = present === null ? [] : chainOf(present).filter((one) => endMs(one) > endMs(added));
  return fromChain([added, ...later]) ?? added;
}

/**
 * Returns the priority that applies when the override ends. Returns null if there is no override, or if the
 * override has no end.
 */
export function priorityAfter({ override, priority: configured }: SiteConfig): number | null {
  if (override === null || override.until === null) return null;
  return override.suspended?.[0]?.priority ?? configured;
}

function chainOf({ suspended = [], ...own }: SiteOverride): PlainOverride[] {
  return [own, ...suspended];
}

function fromChain([first, ...suspended]: readonly PlainOverride[]): SiteOverride | null {
  if (first === undefined) return null;
  return suspended.length === 0 ? first : { ...first, suspended };
}

function endMs({ until }: PlainOverride): number {
  return until === null ? Number.POSITIVE_INFINITY : fromInstant(until);
}

export function sitePriority(config: GroupConfig, site: string, nowMs: number): number {
  const settings = siteConfig(config, site);
  return overrideInForce(settings, nowMs)?.priority ?? settings.priority;
}

/**
 * Returns the time in milliseconds for which a better node must have been eligible before failback. Returns
 * null if failback never happens automatically.
 */
export function failbackDelayMs(config: GroupConfig): number | null {
  if (config.failback === 'manual') return null;
  if (config.failback === 'auto') return durationMs(config.failbackHold);
  return durationMs(config.failback.slice('after:'.length));
}
