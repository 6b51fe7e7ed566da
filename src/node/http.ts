/**
 * Opens an agent's HTTP interface, as configured. The server's code is loaded only if the interface is
 * enabled.
 */

import { readFileSync } from 'node:fs';
import type { Rules } from '../../strategies/registry.js';
import { rootAmong } from '../config/group-settings.js';
import { hostText, isLoopback, parseListen, usualListen } from '../config/listen.js';
import type { AgentSettings } from '../config/settings.js';
import { storeOptions } from '../config/store-options.js';
import { readTokenFile } from '../config/token.js';
import { errorMessage, PetrelError } from '../errors.js';
import type { HttpServer, Secrets } from '../http/server.js';
import type { Logger } from '../log.js';
import { systemClock } from '../ports/clock.js';
import { dialWith, openStore } from '../zookeeper/index.js';
import type { ServedGroups } from './served-groups.js';

export type HttpSettings = Pick<
  AgentSettings,
  'httpListen' | 'httpHosts' | 'httpTokenFile' | 'httpToken' | 'httpTlsCert' | 'httpTlsKey'
>;
type NodeSettings = HttpSettings & Parameters<typeof storeOptions>[0];

const sessionTimeoutMs = 10_000;
const callTimeoutMs = 5_000;

/**
 * Opens the HTTP interface. Returns null if HTTP is off. Also returns null if no address is configured and
 * the default address is not available. Throws PetrelError INVALID for an unusable token or certificate, and
 * FAILED if the server cannot listen.
 */
export async function openHttp(
  settings: NodeSettings,
  { groups, rules }: { readonly groups: ServedGroups; readonly rules: Rules },
  log: Logger,
): Promise<HttpServer | null> {
  const configured = parseListen(settings.httpListen);
  if (configured === 'off') return null;
  const listen = configured === 'auto' ? usualListen : configured;
  const secrets = readSecrets(settings);
  const { HttpServer: Server, CannotListen } = await import('../http/server.js');
  const rootOf = (path: string) => rootAmong(new Set(groups.all().map(({ root }) => root)), path);
  const reader = { ...storeOptions(settings, rootOf), sessionTimeoutMs, callTimeoutMs };
  try {
    const server = await Server.open({
      listen,
      hosts: settings.httpHosts,
      groups,
      rules,
      openStore: () => openStore(reader),
      ensemble: { servers: reader.servers.servers, dial: dialWith(reader.tls) },
      secrets,
      clock: systemClock,
      log,
    });
    logAddresses(server, listen.host, secrets, log);
    return server;
  } catch (error) {
    if (configured !== 'auto' || !(error instanceof CannotListen)) throw error;
    log.warn(`running without HTTP: ${error.problem}; choose an address with --listen, or set --listen off`);
    return null;
  }
}

/** Reads the token and the certificate. Throws PetrelError INVALID. */
export function readSecrets({ httpToken, httpTokenFile, httpTlsCert, httpTlsKey }: HttpSettings): Secrets {
  const token = httpToken ?? (httpTokenFile === null ? null : readTokenFile(httpTokenFile));
  if (httpTlsCert === null || httpTlsKey === null) return { token, certificate: null };
  return { token, certificate: { cert: readPem(httpTlsCert), key: readPem(httpTlsKey) } };
}

/** Reads the token and the certificate again. If this fails, the server keeps the old ones. */
export function reloadHttp(server: HttpServer, settings: HttpSettings, log: Logger): void {
  try {
    if (server.use(readSecrets(settings))) log.info('HTTP: loaded the new token and certificate');
  } catch (error) {
    log.error({ error }, `HTTP: keeping the old token and certificate: ${errorMessage(error)}`);
  }
}

function readPem(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new PetrelError('INVALID', `http.tls: ${path}: ${errorMessage(error)}`, { cause: error });
  }
}

function logAddresses(server: HttpServer, host: string, { token, certificate }: Secrets, log: Logger): void {
  log.info({ url: server.url }, `HTTP server listening on ${server.url}`);
  const isOpen = !isLoopback(host);
  if (token === null) {
    const reads = isOpen ? `; any client that reaches ${hostText(host)} can read the group` : '';
    log[isOpen ? 'warn' : 'info'](`HTTP: no token is set, so changes are refused${reads}`);
  } else if (isOpen && certificate === null) {
    log.warn(
      'HTTP: the token is sent in clear text: set http.tls.cert and http.tls.key, or listen on a loopback address',
    );
  }
}
