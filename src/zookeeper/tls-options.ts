/**
 * TLS settings for ZooKeeper. They have their own file because the type declarations of Petrel's library
 * refer to them. Those declarations must not depend on node-zookeeper-client, which has no types.
 */

/** TLS settings. Certificates and keys are PEM, as text or bytes. */
export interface TlsOptions {
  /** Certificates to trust instead of the system's certificates. */
  readonly ca?: string | Buffer | (string | Buffer)[];
  /** This client's certificate, for servers that require one. */
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly passphrase?: string;
  /** Name to expect in the server's certificate instead of the host from the connection string. */
  readonly servername?: string;
  /**
   * If false, any certificate is accepted: the connection is encrypted, but the server is not authenticated.
   * Default: true.
   */
  readonly rejectUnauthorized?: boolean;
  /**
   * Returns the current settings. It is called before each connection, because certificates expire and are
   * replaced. If it throws or returns unusable settings, the last usable settings apply.
   */
  readonly reread?: () => Omit<TlsOptions, 'reread'>;
}
