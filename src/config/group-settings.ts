/** What the settings of an agent say of each group that it is in, where it is in several. */
import * as z from 'zod';
import { strictObject } from '../core/names.js';
import { quoted, UnusableKey, usableKey } from '../core/outside.js';
import { PetrelError } from '../errors.js';
import type { AgentSettings, GroupFields } from './settings.js';

const mostGroups = 5_000;

/** What an entry of `groups` may say beside its root. */
export const ownNames = [
  'priority',
  'tags',
  'scores',
  'onTakeover',
  'onRelease',
  'onFence',
  'onPrepare',
  'healthCheck',
  'healthCheckIntervalMs',
  'healthCheckTimeoutMs',
  'healthCheckFailures',
] as const;

/** A list of groups, each with a root of its own and what it does not have from the top level. */
export function groupList(of: GroupFields) {
  const hooks = strictObject({
    onTakeover: of.onTakeover.unwrap().optional(),
    onRelease: of.onRelease.unwrap().optional(),
    onFence: of.onFence.unwrap().optional(),
    onPrepare: of.onPrepare.unwrap().optional(),
    healthCheck: of.healthCheck.unwrap().optional(),
    healthCheckInterval: of.healthCheckIntervalMs.unwrap().optional(),
    healthCheckTimeout: of.healthCheckTimeoutMs.unwrap().optional(),
    healthCheckFailures: of.healthCheckFailures.unwrap().optional(),
  });
  const entry = strictObject({
    root: of.root.unwrap(),
    priority: of.priority.unwrap().optional(),
    tags: of.tags.unwrap().optional(),
    scores: of.scores.unwrap().optional(),
    hooks: hooks.optional(),
  }).transform(({ hooks: given = {}, ...own }) => {
    const { healthCheckInterval, healthCheckTimeout, ...commands } = given;
    const times = { healthCheckIntervalMs: healthCheckInterval, healthCheckTimeoutMs: healthCheckTimeout };
    return { ...own, ...commands, ...times };
  });
  return z
    .array(entry, 'a list of groups, each with its root, like - root: /services/db')
    .max(mostGroups, `at most ${mostGroups} groups`)
    .superRefine((entries, context) => {
      const problem = rootProblem(entries.map(({ root }) => root));
      if (problem !== null) context.addIssue({ code: 'custom', message: problem, input: entries });
    });
}

/** A group's znodes are below its root, so none can be below another's. */
function rootProblem(roots: readonly string[]): string | null {
  const seen = new Set(roots);
  if (seen.size < roots.length) {
    const twice = roots.find((root, index) => roots.indexOf(root) !== index) ?? '';
    return `${quoted(twice)} is there twice`;
  }
  for (const root of roots) {
    const above = ancestors(root).find((path) => seen.has(path));
    if (above !== undefined) return `${quoted(root)} is below ${quoted(above)}, which is a group itself`;
  }
  return null;
}

function ancestors(root: string): string[] {
  const names = root.split('/').slice(1);
  return names.slice(0, -1).map((_, index) => `/${names.slice(0, index + 1).join('/')}`);
}

/** The root, of these, of the group that a znode is of; of no group: a root that makes it nothing of a group's. */
export function rootAmong(roots: ReadonlySet<string>, path: string): string {
  return ancestors(path).findLast((above) => roots.has(above)) ?? path;
}

export type ChosenGroups = Pick<AgentSettings, 'groups' | 'groupsUnder'>;

/** Whether the agent is in several groups, by a list or by what is below a path; else it is in that of its `root`. */
export function hasGroups({ groups, groupsUnder }: ChosenGroups): boolean {
  return groups.length > 0 || groupsUnder !== null;
}

/** Throws PetrelError INVALID for what does not go together with several groups. */
export function checkGroups(settings: AgentSettings): void {
  if (!hasGroups(settings)) return;
  const { groups, groupsUnder, probeListen } = settings;
  const reasons: string[] = [];
  if (probeListen !== null)
    reasons.push('probe.listen: a node of several groups does not probe: leave it out');
  const within = groups.find(
    ({ root }) => groupsUnder !== null && (root === groupsUnder || ancestors(groupsUnder).includes(root)),
  );
  if (within !== undefined)
    reasons.push(`groupsUnder: ${groupsUnder} is in the group ${within.root}: what is below it is no group`);
  const below = groups.find(
    ({ root }) => groupsUnder !== null && ancestors(root).slice(0, -1).includes(groupsUnder),
  );
  if (below !== undefined)
    reasons.push(
      `groups: ${below.root} is below a child of groupsUnder (${groupsUnder}), which is a group itself`,
    );
  if (reasons.length > 0) throw new PetrelError('INVALID', reasons.join('; '), { reasons });
}

/**
 * The settings of each group by its root: of those that are listed, and of those found below `groupsUnder`. What an entry
 * does not say is as at the top level.
 */
export function settingsByRoot(
  settings: AgentSettings,
  found: readonly string[],
): ReadonlyMap<string, AgentSettings> {
  const common = { ...settings, groups: [], groupsUnder: null };
  const byRoot = new Map<string, AgentSettings>(found.map((root) => [root, { ...common, root }]));
  for (const entry of settings.groups) byRoot.set(entry.root, { ...common, ...said(entry) });
  return byRoot;
}

function said<T extends object>(entry: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const given = Object.entries(entry).filter(([, value]) => value !== undefined);
  return Object.assign(Object.create(null), Object.fromEntries(given));
}

/** A text in the place of a list, as a variable has it. */
export function groupsFromText(texts: readonly string[]): unknown {
  try {
    return JSON.parse(texts.at(-1) ?? '', (key, value: unknown) => {
      usableKey(key);
      return value;
    });
  } catch (error) {
    if (error instanceof UnusableKey) throw error;
    throw new Error('is not a JSON list, like [{"root": "/services/db"}]');
  }
}
