/** Passes the connection settings from a node's flags to the processes that the node starts. */
import { reachSettings } from '../config/node-settings.js';
import { flagsAsVariables, type SettingSources } from '../config/read-settings.js';

/**
 * Sets connection settings as environment variables for the processes that this process starts. Also returns
 * the variables, for code that starts processes in another way.
 */
export function exportSettings(flags: SettingSources['flags']): Record<string, string> {
  const variables = flagsAsVariables(reachSettings, flags);
  Object.assign(process.env, variables);
  return variables;
}
