/** Reads the settings of commands. */
import { hostname, userInfo } from 'node:os';
import type { Command } from 'commander';
import { type DescribedSetting, readSettings } from '../config/read-settings.js';
import { type ClientSettings, clientSettings } from '../config/settings.js';
import type { LogLevel } from '../log.js';

export interface ClientContext {
  readonly described: readonly DescribedSetting[];
  readonly settings: ClientSettings;
  /** Silent by default, because the command's own messages report errors. Users can request the log. */
  readonly logLevel: LogLevel;
}

/**
 * Returns the settings of a command that shows or changes a group. Warnings go to stderr. Throws PetrelError
 * INVALID.
 */
export async function readClientSettings(command: Command): Promise<ClientContext> {
  const { values, described, warnings } = await readSettings(clientSettings, {
    flags: command.optsWithGlobals(),
    env: process.env,
  });
  for (const warning of warnings) process.stderr.write(`petrel: ${warning}\n`);
  const isSet = described.some(({ key, source }) => key === 'logLevel' && source !== 'default');
  return { settings: values, described, logLevel: isSet ? values.logLevel : 'silent' };
}

/** Returns the name to record in the history: USER@HOST. Under sudo, USER is the user who called sudo. */
export function whoAmI(): string {
  return `${process.env.SUDO_USER || userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
