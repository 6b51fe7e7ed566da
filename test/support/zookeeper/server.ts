/** What a ZooKeeper for the tests can do, of any kind. */

export interface ServerOptions {
  /** ZooKeeper's unit of time. Default 500. */
  readonly tickTimeMs?: number;
  /** Shortest and longest session timeout granted. Default: 2 and 20 ticks. */
  readonly minSessionTimeoutMs?: number;
  readonly maxSessionTimeoutMs?: number;
  /** Ticks that a server may lag behind its leader before it is dropped. Default 5. */
  readonly syncLimitTicks?: number;
  /** Lines for zoo.cfg, after the usual ones. */
  readonly extraConfig?: readonly string[];
  readonly jvmFlags?: readonly string[];
  /** Opens a second port for TLS. */
  readonly tls?: TlsOptions;
}

export interface TlsOptions {
  /** Path of a PEM file: the server's private key, then its certificate. */
  readonly keyStorePath: string;
  /** Path of a PEM file: trusted certificates. Clients that they vouch for are accepted. */
  readonly trustStorePath: string;
  /** Whether clients must show a certificate. Default: they must. */
  readonly clientAuth?: 'need' | 'want' | 'none';
}

export interface RestartOptions {
  /**
   * Whether to wait until it serves clients. Without a majority of its ensemble it never does. Default true.
   */
  readonly waitUntilReady?: boolean;
}

export interface TestServer extends AsyncDisposable {
  /** `127.0.0.1:port`. Unchanged by a restart. */
  readonly connectString: string;
  /** The TLS port's address. Throws if the server was started without `tls`. */
  readonly secureConnectString: string;
  /** Process id of the Java process. Undefined if the server is not a child process of the tests. */
  readonly pid: number | undefined;
  /** Kills it immediately. What it had written stays, unless it kept its data in memory. */
  kill9(): Promise<void>;
  /** Freezes it: connections stay open, and nothing is answered. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Ends it gracefully. Its data stay until `stop` is called on what started it. */
  shutdown(): Promise<void>;
  /** Restarts it on its data, after killing it (as kill9 does) if it still ran. */
  restart(options?: RestartOptions): Promise<void>;
  /** Resolves once it serves clients. */
  ready(): Promise<void>;
  /** Whether it leads its ensemble. A single server does. False while it does not answer. */
  isLeader(): Promise<boolean>;
  /** The answer to one of ZooKeeper's four-letter words. Rejects if there is none within 400 ms. */
  fourLetterWord(word: string): Promise<string>;
  /** The end of its log, for failure messages. */
  log(): Promise<string>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

export interface TestEnsemble extends AsyncDisposable {
  /** All servers, separated by commas. */
  readonly connectString: string;
  readonly servers: readonly TestServer[];
  /**
   * Waits for a server that says it leads. One that is cut off may say so wrongly until its sync limit ends.
   */
  leader(): Promise<TestServer>;
  /** Kills every server that is running, and starts them all on their data. */
  restart(options?: RestartOptions): Promise<void>;
  /** Cuts one server (index in `servers`) off from the others. Its clients stay connected to it. */
  isolate(index: number): Promise<void>;
  /** Ends every isolation. */
  heal(): Promise<void>;
  /** Resolves once every server serves clients. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}
