/**
 * Access to ZooKeeper: implements the store port with node-zookeeper-client, but replaces the library's
 * connection handling. Each store is one session. The store never repeats a call.
 */
import type { LookupFunction } from 'node:net';
import { PetrelError } from '../errors.js';
import { type Acl, openAcl, permissions } from '../model/acl.js';
import { type Clock, systemClock } from '../ports/clock.js';
import type { Store } from '../ports/store.js';
import type { ConnectionString } from './connection-string.js';
import { type Dial, dialOver } from './dial.js';
import { newestOf } from './newest-certificates.js';
import type { Logger } from './session.js';
import { ZooKeeperStore } from './store.js';
import type { TlsOptions } from './tls-options.js';

export {
  type ConnectionString,
  parseConnectionString,
  type Server,
  serverText,
} from './connection-string.js';
export type { Dial, Endpoint, Wire, WireEvents } from './dial.js';
export type { Logger } from './session.js';
export type { TlsOptions } from './tls-options.js';
export { Unreachable, unreachableText } from './unreachable.js';

export interface StoreOptions {
  readonly servers: ConnectionString;
  /** The requested timeout. The ensemble may grant a different one (`negotiatedTimeoutMs`). */
  readonly sessionTimeoutMs: number;
  /** Deadline for calls that do not set their own. Default: the session timeout. */
  readonly callTimeoutMs?: number;
  readonly clock?: Clock;
  readonly auth?: readonly { readonly scheme: 'digest'; readonly credentials: string }[];
  /**
   * ACL of znodes that this store creates. `open` gives everyone all rights. `creator` gives all rights to
   * the creator's credentials, and none to others. A function returns the ACL for each path. Default:
   * `creator` if there are credentials, otherwise `open`.
   */
  readonly acl?: 'open' | 'creator' | ((path: string) => Acl);
  readonly tls?: TlsOptions;
  /** Resolves host names like the option `lookup` of `net.connect`. Default: the system's resolver. */
  readonly lookup?: LookupFunction;
  /**
   * Existing session to attach to instead of opening a new one. If that session is over, the store's state
   * becomes LOST.
   */
  readonly session?: { readonly id: bigint; readonly password: Buffer };
  readonly logger?: Logger;
  /** Opens byte streams to servers. Default: TCP, or TLS if `tls` is given. */
  readonly dial?: Dial;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). Default: Math.random. */
  readonly random?: () => number;
}

/** When a server creates a znode with this ACL, it replaces `auth` with the credentials of the session. */
const creatorAcl: Acl = [{ permissions: permissions.all, identity: { scheme: 'auth', id: '' } }];
const silentLogger: Logger = { debug() {}, info() {}, warn() {} };
const maxTimeoutMs = 2 ** 31 - 1;

/**
 * Opens a session, or attaches to an existing one. Returns immediately. `connected()` resolves once the
 * session is connected. @throws PetrelError INVALID if an option is wrong.
 */
export function openStore(options: StoreOptions): Store {
  const { sessionTimeoutMs, callTimeoutMs = sessionTimeoutMs, auth = [], session } = options;
  checkTimeout('sessionTimeoutMs', sessionTimeoutMs);
  checkTimeout('callTimeoutMs', callTimeoutMs);
  if (options.servers.servers.length === 0) throw new PetrelError('INVALID', 'no ZooKeeper servers given');
  const acl = options.acl ?? (auth.length > 0 ? 'creator' : 'open');
  if (acl === 'creator' && auth.length === 0) {
    throw new PetrelError(
      'INVALID',
      'acl "creator" requires credentials in auth: without credentials, no client could access the znodes',
    );
  }
  for (const { credentials } of auth) checkCredentials(credentials);
  if (session && session.password.length !== 16) {
    throw new PetrelError(
      'INVALID',
      `a session password must be 16 bytes long, not ${session.password.length}`,
    );
  }
  return new ZooKeeperStore({
    servers: options.servers,
    sessionTimeoutMs,
    callTimeoutMs,
    clock: options.clock ?? systemClock,
    credentials: auth,
    acl: typeof acl === 'function' ? acl : () => (acl === 'open' ? openAcl : creatorAcl),
    dial: options.dial ?? dialWith(options.tls, options.logger),
    isSecure: options.tls !== undefined,
    random: options.random ?? Math.random,
    lookup: options.lookup,
    resume: session,
    logger: options.logger ?? silentLogger,
  });
}

/**
 * Returns a function that dials over TCP, or over TLS if `tls` is given. Throws PetrelError INVALID for
 * unusable certificates.
 */
export function dialWith(tls: TlsOptions | undefined, logger = silentLogger): Dial {
  return dialOver(tls && newestOf(tls, logger));
}

function checkTimeout(name: string, valueMs: number): void {
  if (Number.isInteger(valueMs) && valueMs > 0 && valueMs <= maxTimeoutMs) return;
  throw new PetrelError(
    'INVALID',
    `${name} is ${valueMs}: expected a whole number of milliseconds from 1 to ${maxTimeoutMs}`,
  );
}

function checkCredentials(credentials: string): void {
  if (/^[^:]+:./s.test(credentials)) return;
  throw new PetrelError('INVALID', 'credentials for the scheme digest must have the form "user:password"');
}
