/** What a ZooKeeper for the tests can do, whichever kind it is. */

export interface ServerOptions {
  /** ZooKeeper's unit of time. Default 500. */
  readonly tickTimeMs?: number;
  /** Shortest and longest session timeout granted, when not two and twenty ticks. */
  readonly minSessionTimeoutMs?: number;
  readonly maxSessionTimeoutMs?: number;
  /** Ticks a server may lag behind its leader before it is dropped. Default 5. */
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
  /** Path of a PEM file: certificates of those whose clients are let in. */
  readonly trustStorePath: string;
  /** Whether clients must show a certificate. Default: they must. */
  readonly clientAuth?: 'need' | 'want' | 'none';
}

export interface RestartOptions {
  /**
   * Whether to wait until it serves clients; without a majority of its ensemble it never does. Default true.
   */
  readonly waitUntilReady?: boolean;
}

export interface TestServer extends AsyncDisposable {
  /** `127.0.0.1:port`; stays the same when the server is started again. */
  readonly connectString: string;
  /** The TLS port's address. Throws when the server was started without `tls`. */
  readonly secureConnectString: string;
  /** Of the Java process; undefined when the server is no child process of the tests. */
  readonly pid: number | undefined;
  /** Ends it at once. What it had written stays, unless it kept its data in memory. */
  kill9(): Promise<void>;
  /** Freezes it: connections stay open, nothing is answered. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Ends it gracefully. Its data stay until `stop` of what started it. */
  shutdown(): Promise<void>;
  /** Starts it again on its data, after ending it (as kill9 does) if it still ran. */
  restart(options?: RestartOptions): Promise<void>;
  /** Resolves when it serves clients. */
  ready(): Promise<void>;
  /** Leader of its ensemble; a single server is its own. False while it does not answer. */
  isLeader(): Promise<boolean>;
  /** The answer to one of ZooKeeper's four letter words. Rejects when there is none within 400 ms. */
  fourLetterWord(word: string): Promise<string>;
  /** The end of what it logged, for failure messages. */
  log(): Promise<string>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

export interface TestEnsemble extends AsyncDisposable {
  /** All servers, separated by commas. */
  readonly connectString: string;
  readonly servers: readonly TestServer[];
  /** Waits for a server that says it leads. One cut off may say so wrongly until its sync limit is over. */
  leader(): Promise<TestServer>;
  /** Ends every server that runs, and starts them all on their data. */
  restart(options?: RestartOptions): Promise<void>;
  /** Cuts one server (index in `servers`) off from the others; its clients stay connected to it. */
  isolate(index: number): Promise<void>;
  /** Ends every isolation. */
  heal(): Promise<void>;
  /** Resolves when every server serves clients. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}
