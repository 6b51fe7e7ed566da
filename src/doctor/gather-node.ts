/**
 * Gathers the facts about the machine and the settings. This module contacts neither ZooKeeper nor other
 * machines.
 */
import { X509Certificate } from 'node:crypto';
import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { readTokens, tokenPath } from '../agent/leadership/token-file.js';
import { accessOf, checkAgent, identityOf } from '../config/access-settings.js';
import { checkGroups } from '../config/group-settings.js';
import { isLoopback, parseListen } from '../config/listen.js';
import { probeSettings } from '../config/probe-settings.js';
import type { DescribedSetting, UnreadableFile } from '../config/read-settings.js';
import type { AgentSettings } from '../config/settings.js';
import { storeOptions } from '../config/store-options.js';
import { readTokenFile } from '../config/token.js';
import { errorMessage } from '../errors.js';
import { checkHooks } from '../hooks/check-hooks.js';
import type { Clock } from '../ports/clock.js';
import { scoreCommands } from '../scores/source.js';
import { version } from '../version.js';
import { parseConnectionString } from '../zookeeper/index.js';
import type { CertificateFacts, NodeFacts, SecretFile, TransportFacts } from './facts.js';
import { listenFacts } from './listening.js';

export interface NodeOptions {
  readonly settings: AgentSettings;
  readonly described: readonly DescribedSetting[];
  readonly unreadable: readonly UnreadableFile[];
  readonly clock: Clock;
}

/** Gathers the facts about the node. Never rejects. */
export async function gatherNode({
  settings,
  described,
  unreadable,
  clock,
}: NodeOptions): Promise<NodeFacts> {
  const { onTakeover, onRelease, onFence, onPrepare, healthCheck, scores } = settings;
  const isReadable = ({ path }: { readonly path: string }) => !unreadable.some((file) => file.path === path);
  const hooks = { onTakeover, onRelease, onFence, onPrepare, healthCheck };
  return {
    version,
    settings: settingsProblem(settings),
    hooks: await checkHooks({ ...hooks, ...scoreCommands(scores) }),
    hasHooks: Object.values(hooks).some((command) => command !== null),
    secretFiles: secretFiles(settings, described).filter(isReadable),
    unreadable,
    listen: await listenFacts(settings),
    system: { seesProcesses: seesProcesses(), hasShell: hasShell() },
    transports: transportsOf(settings),
    certificates: certificatesOf(settings).filter(isReadable),
    seenTokens: seenTokens(settings),
    nowMs: clock.wallMs(),
  };
}

function seenTokens({ stateDir, root, nodeId }: AgentSettings): NodeFacts['seenTokens'] {
  try {
    return readTokens(tokenPath(stateDir, root, nodeId));
  } catch (error) {
    return { problem: errorMessage(error) };
  }
}

/** Returns the problem that would make an agent exit at startup. Null if there is none. */
function settingsProblem(settings: AgentSettings): string | null {
  try {
    if (!isPerson(settings)) checkAgent(settings);
    storeOptions(settings);
    probeSettings(settings);
    checkGroups(settings);
    if (settings.httpTokenFile !== null) readTokenFile(settings.httpTokenFile);
    return null;
  } catch (error) {
    return errorMessage(error);
  }
}

/**
 * Whether the settings are those of an operator or an observer. Such settings need not be valid for an agent.
 */
function isPerson(settings: AgentSettings): boolean {
  const own = identityOf(settings);
  const access = accessOf(settings, own);
  const people = [...(access?.operators ?? []), ...(access?.observers ?? [])];
  return people.some(({ id }) => id === own?.id);
}

function secretFiles(settings: AgentSettings, described: readonly DescribedSetting[]): SecretFile[] {
  const { authFile, httpTokenFile, probeSecretFile, tlsPassphraseFile, tlsKey, httpTlsKey } = settings;
  const named = { authFile, 'http.tokenFile': httpTokenFile, 'probe.secretFile': probeSecretFile };
  const more = { 'tls.passphraseFile': tlsPassphraseFile, 'tls.key': tlsKey, 'http.tls.key': httpTlsKey };
  const files = Object.entries({ ...named, ...more }).flatMap(([key, path]) =>
    path === null ? [] : [{ key, path }],
  );
  return [...files, ...secretsInSettings(described)].map(({ key, path }) => ({
    key,
    path,
    mode: modeOf(path),
  }));
}

/** Returns the settings files that contain secrets, each with the key of the secret. */
function secretsInSettings(described: readonly DescribedSetting[]): { key: string; path: string }[] {
  return described.flatMap(({ key, isSecret, source }) => {
    const path = /^(.*):\d+:\d+$/s.exec(source)?.[1];
    return isSecret && path !== undefined ? [{ key, path }] : [];
  });
}

function modeOf(path: string): number | null {
  try {
    return statSync(path).mode;
  } catch {
    return null;
  }
}

/**
 * Whether /proc shows processes. Even with the mount option hidepid, /proc shows the processes of the same
 * user, such as workloads.
 */
function seesProcesses(): boolean {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length > 0;
  } catch {
    return false;
  }
}

function hasShell(): boolean {
  try {
    accessSync('/bin/sh', constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function transportsOf(settings: AgentSettings): TransportFacts {
  const { httpListen, httpToken, httpTokenFile, httpTlsCert, auth, authFile, tlsCa, tlsCert, tlsServername } =
    settings;
  const listen = parseListen(httpListen);
  const isOpen = typeof listen === 'object' && !isLoopback(listen.host);
  const isFar = parseConnectionString(settings.zookeeper).servers.some(({ host }) => !isLoopback(host));
  const hasTls = tlsCa !== null || tlsCert !== null || tlsServername !== null;
  return {
    isPasswordInClear: (auth !== null || authFile !== null) && isFar && !hasTls,
    isTokenInClear: isOpen && (httpToken !== null || httpTokenFile !== null) && httpTlsCert === null,
  };
}

function certificatesOf({ tlsCa, tlsCert, httpTlsCert }: AgentSettings): CertificateFacts[] {
  const named = { 'tls.ca': tlsCa, 'tls.cert': tlsCert, 'http.tls.cert': httpTlsCert };
  return Object.entries(named).flatMap(([key, path]) =>
    path === null ? [] : [{ key, path, endsAtMs: endOf(path) }],
  );
}

/**
 * Returns the time at which the first certificate in the file expires. Null if the certificate cannot be
 * read.
 */
function endOf(path: string): number | null {
  try {
    return Date.parse(new X509Certificate(readFileSync(path)).validTo);
  } catch {
    return null;
  }
}
