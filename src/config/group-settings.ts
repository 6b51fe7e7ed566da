import { PetrelError } from '../errors.js';
import { ancestors } from './group-list.js';
import type { AgentSettings } from './settings.js';

/**
 * Returns the root of the group that contains the znode at `path`. `roots` contains the roots of all groups.
 * If no group contains the znode, returns `path` itself, which is then not the root of a group.
 */
export function rootAmong(roots: ReadonlySet<string>, path: string): string {
  return ancestors(path).findLast((above) => roots.has(above)) ?? path;
}

export type ChosenGroups = Pick<AgentSettings, 'groups' | 'groupsUnder'>;

/**
 * Whether the agent's groups are given as a list or as a parent path. Otherwise, the agent is in one group,
 * at `root`.
 */
export function hasGroups({ groups, groupsUnder }: ChosenGroups): boolean {
  return groups.length > 0 || groupsUnder !== null;
}

/** Throws PetrelError INVALID for settings that cannot be combined with several groups. */
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
 * Returns the settings of each group, keyed by root. The groups are those in the list and those found below
 * `groupsUnder`. Settings that an entry omits come from the top level.
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
