/** How what a node runs finds the ensemble that the node was told of by flags. */
import { reachSettings } from '../config/node-settings.js';
import { flagsAsVariables, type SettingSources } from '../config/read-settings.js';

/**
 * From now on what this process starts itself finds them as variables; returned, for whoever else starts
 * something.
 */
export function exportSettings(flags: SettingSources['flags']): Record<string, string> {
  const variables = flagsAsVariables(reachSettings, flags);
  Object.assign(process.env, variables);
  return variables;
}
