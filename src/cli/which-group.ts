/**
 * Decides which group a command applies to if the settings file belongs to an agent that is in several
 * groups.
 */

import { type ChosenGroups, hasGroups } from '../config/group-settings.js';
import { commonSettings } from '../config/node-settings.js';
import { type DescribedSetting, readSettings, type SettingSources } from '../config/read-settings.js';
import { groupsSettings } from '../config/settings.js';
import { PetrelError } from '../errors.js';
import { cut } from '../model/outside.js';

const shown = 5;

/**
 * Returns the given root. If none is given, returns the root of the only group in the settings, or the
 * default root if the settings name no groups. Throws PetrelError INVALID if the settings name several
 * groups, because only the operator can choose one.
 */
export async function chosenRoot(
  root: string,
  described: readonly DescribedSetting[],
  sources: SettingSources,
): Promise<string> {
  const isGiven = described.some(({ key, source }) => key === 'root' && source !== 'default');
  if (isGiven) return root;
  const { values } = await readSettings(commonSettings.extend(groupsSettings), sources, 'reported');
  if (!hasGroups(values)) return root;
  const [only, ...others] = values.groups;
  if (only !== undefined && others.length === 0 && values.groupsUnder === null) return only.root;
  throw new PetrelError(
    'INVALID',
    `the settings name several groups; choose one with --root: ${namesOf(values)} (petrel list --all shows them)`,
  );
}

function namesOf({ groups, groupsUnder }: ChosenGroups): string {
  const roots = groups.slice(0, shown).map(({ root }) => cut(root));
  const more = groups.length > shown ? [`${groups.length - shown} more`] : [];
  const below = groupsUnder === null ? [] : [`the groups below ${groupsUnder}`];
  return [...roots, ...more, ...below].join(', ');
}
