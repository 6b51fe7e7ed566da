/**
 * The HTTP interface of an agent. It rejects slow, broken and excessive requests, so it never delays the
 * agent or the process. It closes as soon as the agent has left the group.
 */
import { createHash } from 'node:crypto';
import { Server as SecureServer } from 'node:https';
import type { Rules } from '../../strategies/registry.js';
import { hostText, type ListenAddress } from '../config/listen.js';
import { errorMessage, isAddressInUse, PetrelError } from '../errors.js';
import type { Logger } from '../log.js';
import type { ServedGroups } from '../node/served-groups.js';
import type { Clock } from '../ports/clock.js';
import type { Store } from '../ports/store.js';
import { addAgentInfo } from './agent-info.js';
import { App, type Certificate, secured } from './app.js';
import { addChanges } from './changes.js';
import { addDocs } from './docs.js';
import { EnsembleHealth, type EnsembleOptions } from './ensemble-health.js';
import { addEvents } from './events.js';
import { Groups } from './groups.js';
import { refuseOtherNames } from './hosts.js';
import { addMetrics } from './metrics.js';
import { MetricsPage } from './metrics-page.js';
import { describe } from './openapi.js';
import { addPage } from './page.js';
import { addReads } from './reads.js';
import { addRoles, rolePaths } from './roles.js';
import { reading, unread } from './route.js';
import { TokenCheck } from './token.js';

/** Values that are read from files and can be replaced while the server is running. */
export interface Secrets {
  /** Token that permits changes. Null if changes are disabled. */
  readonly token: string | null;
  /** TLS certificate. Null means HTTP without TLS. */
  readonly certificate: Certificate | null;
}

export interface HttpOptions {
  readonly listen: ListenAddress;
  /** Further host names that clients use to reach the agent. See hosts.ts. */
  readonly hosts: readonly string[];
  readonly groups: ServedGroups;
  /** Opens a separate session, which takes no part in the election. */
  openStore(): Store;
  readonly ensemble: EnsembleOptions;
  readonly rules: Rules;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Error if the server cannot listen, for example because the port is in use. */
export class CannotListen extends PetrelError {
  /** The problem, in one line that includes the address. */
  readonly problem: string;

  constructor(where: string, cause: unknown) {
    super('FAILED', `cannot listen for HTTP on ${where}: ${errorMessage(cause)}`, { cause });
    this.problem = isAddressInUse(cause) ? `${where} is in use` : this.message;
  }
}

export class HttpServer {
  readonly #app: App;
  readonly #groups: Groups;
  readonly #metrics: MetricsPage;
  readonly #token: TokenCheck;
  readonly #host: string;
  #inForce: string;

  private constructor(options: HttpOptions, app: App) {
    const { secrets, listen } = options;
    this.#app = app;
    this.#host = listen.host;
    this.#groups = new Groups(options);
    this.#metrics = new MetricsPage(options);
    this.#token = new TokenCheck(secrets.token);
    this.#inForce = digestOf(secrets);
  }

  /**
   * Opens the interface, and resolves once the server is listening. Throws PetrelError INVALID if the
   * certificate is unusable, and CannotListen if the server cannot listen.
   */
  static async open(options: HttpOptions): Promise<HttpServer> {
    const { listen, log, secrets } = options;
    const server = new HttpServer(options, createApp(log, secrets.certificate));
    server.#addRoutes(options);
    try {
      await server.#app.listen(listen);
    } catch (error) {
      await server.close();
      throw new CannotListen(`${hostText(listen.host)}:${listen.port}`, error);
    }
    return server;
  }

  /** Address of the interface, for example `http://127.0.0.1:8008`. */
  get url(): string {
    const address = this.#app.server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const scheme = this.#app.server instanceof SecureServer ? 'https' : 'http';
    return `${scheme}://${hostText(this.#host)}:${port}`;
  }

  /** Number of clients that are reading events. */
  get readers(): number {
    return this.#groups.readers;
  }

  /**
   * Replaces the secrets. The new token applies from the next request on, and the new certificate from the
   * next connection on. Returns whether the new secrets differ from the previous ones. If the certificate is
   * unusable, throws an error and replaces nothing.
   */
  use(secrets: Secrets): boolean {
    const { token, certificate } = secrets;
    const { server } = this.#app;
    if (server instanceof SecureServer && certificate !== null) server.setSecureContext(secured(certificate));
    this.#token.use(token);
    const before = this.#inForce;
    this.#inForce = digestOf(secrets);
    return before !== this.#inForce;
  }

  /** Closes the interface and ends every connection. Never rejects. */
  async close(): Promise<void> {
    this.#groups.endEvents();
    this.#metrics.close();
    await this.#app.close();
    await this.#groups.close();
  }

  #addRoutes({ clock, log, listen, hosts, ensemble }: HttpOptions): void {
    refuseOtherNames(this.#app, { listen, hosts, open: rolePaths });
    addRoles(this.#app, this.#groups, clock);
    addMetrics(this.#app, this.#metrics);
    addPage(this.#app, this.#groups);
    addReads(this.#app, this.#groups);
    addAgentInfo(this.#app, {
      groups: this.#groups,
      ensemble: new EnsembleHealth(ensemble, clock),
      token: this.#token,
    });
    addDocs(this.#app);
    addEvents(this.#app, this.#groups);
    addChanges(this.#app, { groups: this.#groups, token: this.#token, clock, log });
    // The description is created at the first request, because creating it takes longer than answering most
    // requests.
    let described: object | null = null;
    const answer = () => {
      described ??= describe(this.#app.routes);
      return { json: described };
    };
    this.#app.add({ ...unread, methods: reading, path: '/openapi.json', responses: {}, answer });
  }
}

function createApp(log: Logger, certificate: Certificate | null): App {
  try {
    return new App(log, certificate);
  } catch (error) {
    throw new PetrelError('INVALID', `http.tls: ${errorMessage(error)}`, { cause: error });
  }
}

/**
 * Returns a digest of the secrets. It is used for comparison, so that the secrets themselves need not be
 * kept.
 */
function digestOf({ token, certificate }: Secrets): string {
  const parts = [token, certificate?.cert.toString('base64'), certificate?.key.toString('base64')];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
