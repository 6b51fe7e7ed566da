import { PetrelError } from '../errors.js';
import { ancestors } from './group-list.js';
import type { AgentSettings } from './settings.js';

/**
 * The root, of these, of the group that a znode is of; of no group: a root that makes it nothing of a
 * group's.
 */
export function rootAmong(roots: ReadonlySet<string>, path: string): string {
  return ancestors(path).findLast((above) => roots.has(above)) ?? path;
}

export type ChosenGroups = Pick<AgentSettings, 'groups' | 'groupsUnder'>;

/**
 * Whether the agent is in several groups, by a list or by what is below a path; else it is in that of its
 * `root`.
 */
export function hasGroups({ groups, groupsUnder }: ChosenGroups): boolean {
  return groups.length > 0 || groupsUnder !== null;
}

/** Throws PetrelError INVALID for what does not go together with several groups. */
export function checkGroups(settings: AgentSettings): void {
  if (!hasGroups(settings)) return;
  const { groups, groupsUnder, probeListen } = settings;
  const reasons: string[] = [];
  if (probeListen !== null)
    reasons.push('probe.listen: a node in several groups cannot probe its peers: remove this setting');
  const within = groups.find(
    ({ root }) => groupsUnder !== null && (root === groupsUnder || ancestors(groupsUnder).includes(root)),
  );
  if (within !== undefined)
    reasons.push(`groupsUnder: ${groupsUnder} is inside the group ${within.root}: no groups can be below it`);
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
 * The settings of each group by its root: of those that are listed, and of those found below `groupsUnder`.
 * What an entry does not say is as at the top level.
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
