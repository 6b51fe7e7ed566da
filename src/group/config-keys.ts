/** A group's configuration as keys and values. Operators see and set it in this form. */
import * as z from 'zod';
import { nearestKeys, nearestOf } from '../config/nearest.js';
import { readYaml } from '../config/yaml.js';
import { errorMessage, PetrelError } from '../errors.js';
import {
  defaultGroupConfig,
  type GroupConfig,
  groupConfigSchema,
  siteConfig,
  withSites as withSiteChanges,
} from '../model/group-config.js';
import { describeIssues } from '../model/names.js';
import { cut, depthProblem, quoted } from '../model/outside.js';
import type { Request } from './change.js';

/** Keys that have their own commands. Those commands also record the author of the change and the reason. */
const ownCommands: readonly { readonly pattern: RegExp; readonly command: string }[] = [
  { pattern: /^(paused|resumed)\b/, command: 'petrel pause or petrel resume' },
  { pattern: /^switchover\b/, command: 'petrel switchover or petrel failover' },
  { pattern: /^drained\b/, command: 'petrel node drain or petrel node undrain' },
  { pattern: /^flags\b/, command: 'petrel flag set or petrel flag clear' },
  { pattern: /^clearedFailures\b/, command: 'petrel node clear-failure' },
  { pattern: /^sites\..+\.drained\b/, command: 'petrel site drain or petrel site undrain' },
  { pattern: /^sites\..+\.failed\b/, command: 'petrel site mark-failed or petrel site mark-healthy' },
  { pattern: /^sites\..+\.override\b/, command: 'petrel site priority or petrel site reset' },
];

/**
 * Returns the command that changes the key, if the key is state rather than a setting. Returns null for a
 * setting.
 */
export function commandOf(key: string): string | null {
  return ownCommands.find(({ pattern }) => pattern.test(key))?.command ?? null;
}

const siteKey = /^sites\.(?<site>.+)\.(?<setting>priority|minNodes)$/;
const strategyOptionKey = /^strategyOptions\.(?<option>.+)$/;

const plainKeys = flatten(defaultGroupConfig)
  .map(({ key }) => key)
  .filter((key) => key !== 'sites' && commandOf(key) === null);
/** The keys that operators can set, as operators write them. */
export const settableKeys: readonly string[] = [
  ...plainKeys,
  'strategyOptions.NAME',
  'sites.NAME.minNodes',
  'sites.NAME.priority',
].toSorted();

export const configKeySchema = z.object({
  key: z.string(),
  value: z.unknown(),
  default: z.unknown(),
  /** Whether the key is set. If it is not, the default applies. */
  set: z.boolean(),
});
export type ConfigKey = z.infer<typeof configKeySchema>;

/** Returns every key with its value and its default, ordered by key. */
export function configKeys(config: GroupConfig): ConfigKey[] {
  const defaults = new Map(flatten(defaultGroupConfig).map(({ key, value }) => [key, value]));
  const siteDefaults = new Map(flatten(oneSite).map(({ key, value }) => [key, value]));
  const defaultOf = (key: string) =>
    defaults.get(key) ?? siteDefaults.get(key.replace(/^sites\..*\./, '')) ?? null;
  return flatten(config)
    .map(({ key, value }) => {
      const fallback = defaultOf(key);
      return { key, value, default: fallback, set: JSON.stringify(value) !== JSON.stringify(fallback) };
    })
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

const oneSite = groupConfigSchema.parse({ sites: { any: {} } }).sites.any;

export const configDifferenceSchema = z.object({
  key: z.string(),
  /** Value before the change. Null also if the key had no value. */
  from: z.unknown(),
  to: z.unknown(),
});
export type ConfigDifference = z.infer<typeof configDifferenceSchema>;

/** Returns the differences between two configurations, key by key. */
export function configDifferences(from: GroupConfig, to: GroupConfig): ConfigDifference[] {
  const sites = [...Object.keys(from.sites), ...Object.keys(to.sites)];
  const before = new Map(contents(withSites(from, sites)).map(({ key, value }) => [key, value]));
  const after = new Map(contents(withSites(to, sites)).map(({ key, value }) => [key, value]));
  const differences = [...new Set([...before.keys(), ...after.keys()])]
    .map((key) => ({ key, from: before.get(key) ?? null, to: after.get(key) ?? null }))
    .filter((entry) => JSON.stringify(entry.from) !== JSON.stringify(entry.to));
  return [...differences, ...idleSites(from, to, differences)].toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

/**
 * Returns a difference for each site whose entry was added or removed, if the entry has only default
 * settings.
 */
function idleSites(
  from: GroupConfig,
  to: GroupConfig,
  differences: readonly ConfigDifference[],
): ConfigDifference[] {
  return [...new Set([...Object.keys(from.sites), ...Object.keys(to.sites)])].flatMap((site) => {
    const key = `sites.${site}`;
    const [was, is] = [from, to].map(({ sites }) => (Object.hasOwn(sites, site) ? {} : null));
    const isListed = differences.some((difference) => difference.key.startsWith(`${key}.`));
    return isListed || (was === null) === (is === null) ? [] : [{ key, from: was, to: is }];
  });
}

/**
 * Returns all leaves except empty objects. If empty objects were included, adding the first entry to an
 * object would also be reported as a change to the object.
 */
function contents(config: GroupConfig): Leaf[] {
  return flatten(config).filter(({ value }) => JSON.stringify(value) !== '{}');
}

/**
 * Returns the configuration with an entry for each named site. A site that is not configured gets an entry
 * with the defaults.
 */
function withSites(config: GroupConfig, names: readonly string[]): GroupConfig {
  return { ...config, sites: Object.fromEntries(names.map((name) => [name, siteConfig(config, name)])) };
}

interface Leaf {
  readonly key: string;
  readonly value: unknown;
}

/**
 * Returns an object's leaves, with dotted keys. Empty objects, lists, and records of an operator's action
 * (objects with `by`) also count as leaves.
 */
function flatten(value: unknown, key = ''): Leaf[] {
  const isBranch = typeof value === 'object' && value !== null && !Array.isArray(value) && !('by' in value);
  const entries = isBranch ? Object.entries(value) : [];
  if (entries.length === 0) return key === '' ? [] : [{ key, value }];
  return entries.flatMap(([name, inner]) => flatten(inner, key === '' ? name : `${key}.${name}`));
}

export interface Assignment {
  readonly key: string;
  /** The value as YAML. Null for the default. */
  readonly text: string | null;
}

/** Sets several keys in one change. Throws PetrelError INVALID for an unknown key or an invalid value. */
export function assign(assignments: readonly Assignment[]): Request {
  const read = assignments.map(({ key, text }) => ({
    key: settable(key),
    value: text === null ? undefined : yamlValue(key, text),
  }));
  return ({ config }) => {
    const parsed = groupConfigSchema.safeParse(read.reduce<object>(assigned, config));
    if (!parsed.success) {
      const reasons = describeIssues(parsed.error);
      throw new PetrelError('INVALID', reasons.join('; '), { reasons });
    }
    const result = withoutIdleSites(parsed.data, read);
    const changes = configDifferences(config, result);
    if (changes.length === 0) {
      return { config: null, what: `${read.map(({ key }) => key).join(', ')} unchanged` };
    }
    return { config: result, what: `configuration: ${changes.map(differenceText).join(', ')}` };
  };
}

/** Removes the entries of sites whose last setting has been reset. */
function withoutIdleSites(
  config: GroupConfig,
  read: readonly { readonly key: string; readonly value: unknown }[],
): GroupConfig {
  const reset = read.flatMap(({ key, value }) => {
    const site = value === undefined ? siteKey.exec(key)?.groups?.site : undefined;
    return site === undefined ? [] : [{ site, settings: {} }];
  });
  return withSiteChanges(config, reset);
}

/** Describes a difference: "timeouts.takeover: 60s → 90s". */
export function differenceText({ key, from, to }: ConfigDifference): string {
  return `${key}: ${valueText(from)} → ${valueText(to)}`;
}

export function valueText(value: unknown): string {
  if (value === null) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function settable(key: string): string {
  if (key.split('.').includes('__proto__'))
    throw new PetrelError('INVALID', `${cut(key)}: __proto__ is not allowed as a name`);
  const own = commandOf(key);
  if (own !== null) throw new PetrelError('INVALID', `to change ${cut(key)}, use ${own}`);
  if (plainKeys.includes(key) || siteKey.test(key) || strategyOptionKey.test(key)) return key;
  const nearest = nearestOf(key, settableKeys);
  const hint =
    nearest === undefined
      ? `similar keys: ${nearestKeys(key, settableKeys, 3).join(', ')}`
      : `did you mean ${nearest}?`;
  throw new PetrelError('INVALID', `unknown key ${cut(key)}: ${hint}`);
}

function yamlValue(key: string, text: string): unknown {
  try {
    const value = readYaml(text);
    const tooDeep = depthProblem(value);
    if (tooDeep !== null) throw new Error(tooDeep);
    return value;
  } catch (error) {
    throw new PetrelError(
      'INVALID',
      `${cut(key)}: ${quoted(text)} is not a YAML value: ${errorMessage(error)}`,
    );
  }
}

/**
 * Returns a copy of the configuration with one key set. If `value` is undefined, the key is removed, and the
 * schema fills in the default.
 */
function assigned(config: object, { key, value }: { key: string; value: unknown }): object {
  return assignedAt(config, pathOf(key), value);
}

/** Splits a key into its parts. Names of sites and options may themselves contain dots. */
function pathOf(key: string): string[] {
  const { site, setting } = siteKey.exec(key)?.groups ?? {};
  if (site !== undefined && setting !== undefined) return ['sites', site, setting];
  const option = strategyOptionKey.exec(key)?.groups?.option;
  return option === undefined ? key.split('.') : ['strategyOptions', option];
}

function assignedAt(branch: unknown, [name = '', ...rest]: readonly string[], value: unknown): object {
  const entries = typeof branch === 'object' && branch !== null ? Object.entries(branch) : [];
  const others = entries.filter(([key]) => key !== name);
  if (rest.length === 0) return Object.fromEntries(value === undefined ? others : [...others, [name, value]]);
  const inner: unknown = entries.find(([key]) => key === name)?.[1];
  return Object.fromEntries([...others, [name, assignedAt(inner, rest, value)]]);
}
