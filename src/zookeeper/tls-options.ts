/**
 * How to talk TLS to ZooKeeper. By itself, because the library's types name it, and node-zookeeper-client has
 * none.
 */

/** Certificates and keys are PEM, as text or bytes. */
export interface TlsOptions {
  /** Certificates to trust instead of the system's. */
  readonly ca?: string | Buffer | (string | Buffer)[];
  /** Our own certificate, for servers that ask for one. */
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly passphrase?: string;
  /** Name to expect in the server's certificate instead of the host from the connection string. */
  readonly servername?: string;
  /** False takes any certificate: encrypted, but anybody may be at the other end. Default true. */
  readonly rejectUnauthorized?: boolean;
  /**
   * What they are now, asked before each connection: certificates expire, and are replaced. Where it throws,
   * or what it says will not do, the last that would are used.
   */
  readonly reread?: () => Omit<TlsOptions, 'reread'>;
}
