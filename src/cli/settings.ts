/** From settings to what they stand for. */
import { readFile } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import type { Command } from 'commander';
import { readSettings } from '../config/read-settings.js';
import { type ClientSettings, type CommonSettings, clientSettings } from '../config/settings.js';
import type { LogLevel } from '../log.js';
import { parseConnectionString, type StoreOptions, type TlsOptions } from '../zookeeper/index.js';

export interface ClientContext {
  readonly settings: ClientSettings;
  /** A command's own words say what went wrong; the log is for those who ask for it. */
  readonly logLevel: LogLevel;
}

/** Settings of a command that looks at a group. Warnings go to stderr. Throws PetrelError INVALID. */
export async function readClientSettings(command: Command): Promise<ClientContext> {
  const { values, described, warnings } = await readSettings(clientSettings, {
    flags: command.optsWithGlobals(),
    env: process.env,
  });
  for (const warning of warnings) process.stderr.write(`petrel: ${warning}\n`);
  const isAskedFor = described.some(({ key, source }) => key === 'logLevel' && source !== 'default');
  return { settings: values, logLevel: isAskedFor ? values.logLevel : 'silent' };
}

/** How to reach ZooKeeper. Throws PetrelError INVALID, or what reading the certificates throws. */
export async function storeAccess(
  settings: CommonSettings,
): Promise<Pick<StoreOptions, 'servers' | 'auth'> & { tls?: TlsOptions }> {
  const tls = await tlsOptions(settings);
  return {
    servers: parseConnectionString(settings.zookeeper),
    auth:
      settings.auth === null
        ? []
        : [{ scheme: 'digest', credentials: settings.auth.slice('digest:'.length) }],
    ...(tls === null ? {} : { tls }),
  };
}

async function tlsOptions({
  tlsCa,
  tlsCert,
  tlsKey,
  tlsPassphrase,
  tlsServername,
}: CommonSettings): Promise<TlsOptions | null> {
  if (tlsCa === null && tlsCert === null && tlsServername === null) return null;
  return {
    ...(tlsCa === null ? {} : { ca: await readFile(tlsCa) }),
    ...(tlsCert === null ? {} : { cert: await readFile(tlsCert) }),
    ...(tlsKey === null ? {} : { key: await readFile(tlsKey) }),
    ...(tlsPassphrase === null ? {} : { passphrase: tlsPassphrase }),
    ...(tlsServername === null ? {} : { servername: tlsServername }),
  };
}

/** Who does it, for the history: the person behind sudo where there is one. */
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
