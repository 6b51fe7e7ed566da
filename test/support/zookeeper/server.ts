/** The interface of a ZooKeeper for the tests, independent of its kind. */

export interface ServerOptions {
  /** ZooKeeper's unit of time, in milliseconds. Default 500. */
  readonly tickTimeMs?: number;
  /** Shortest and longest session timeout that the server grants. Default: 2 and 20 ticks. */
  readonly minSessionTimeoutMs?: number;
  readonly maxSessionTimeoutMs?: number;
  /** Number of ticks by which a server may lag behind its leader before the leader drops it. Default 5. */
  readonly syncLimitTicks?: number;
  /** Lines that are added at the end of zoo.cfg. */
  readonly extraConfig?: readonly string[];
  readonly jvmFlags?: readonly string[];
  /** If set, the server opens a second port for TLS. */
  readonly tls?: TlsOptions;
}

export interface TlsOptions {
  /** Path of a PEM file with the server's private key and then its certificate. */
  readonly keyStorePath: string;
  /**
   * Path of a PEM file with trusted certificates. The server accepts clients that these certificates vouch
   * for.
   */
  readonly trustStorePath: string;
  /** Whether clients must present a certificate. Default: `need`, they must. */
  readonly clientAuth?: 'need' | 'want' | 'none';
}

export interface RestartOptions {
  /**
   * Whether to wait until the server serves clients. Without a majority of its ensemble it never does.
   * Default true.
   */
  readonly waitUntilReady?: boolean;
}

export interface TestServer extends AsyncDisposable {
  /** `127.0.0.1:port`. A restart does not change it. */
  readonly connectString: string;
  /** Address of the TLS port. Throws if the server was started without `tls`. */
  readonly secureConnectString: string;
  /** Process id of the Java process. Undefined if the server is not a child process of the tests. */
  readonly pid: number | undefined;
  /** Kills the server immediately. Data that it had written stays, unless the server kept it in memory. */
  kill9(): Promise<void>;
  /** Freezes the server: connections stay open, and no request is answered. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Ends the server gracefully. Its data stays until `stop` is called on the server or on its ensemble. */
  shutdown(): Promise<void>;
  /** Restarts the server with its existing data. If it is still running, kills it first, as `kill9` does. */
  restart(options?: RestartOptions): Promise<void>;
  /** Resolves once the server serves clients. */
  ready(): Promise<void>;
  /**
   * Whether the server leads its ensemble. True for a single server. False while the server does not answer.
   */
  isLeader(): Promise<boolean>;
  /**
   * Returns the answer to one of ZooKeeper's four-letter words. Rejects if there is no answer within 400 ms.
   */
  fourLetterWord(word: string): Promise<string>;
  /** Returns the end of the server's log, for failure messages. */
  log(): Promise<string>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

export interface TestEnsemble extends AsyncDisposable {
  /** Addresses of all servers, separated by commas. */
  readonly connectString: string;
  readonly servers: readonly TestServer[];
  /**
   * Waits for a server that reports itself as leader. A server that is cut off may report this wrongly until
   * its sync limit ends.
   */
  leader(): Promise<TestServer>;
  /** Kills all running servers and restarts every server with its existing data. */
  restart(options?: RestartOptions): Promise<void>;
  /**
   * Cuts one server off from the others. Its clients stay connected to it. `index` is its position in
   * `servers`.
   */
  isolate(index: number): Promise<void>;
  /** Ends the isolation of all servers. */
  heal(): Promise<void>;
  /** Resolves once every server serves clients. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}
