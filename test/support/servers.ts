/** The ZooKeeper servers for the tests of a file, or of a `describe`. */
import { afterAll, beforeAll } from 'vitest';
import {
  type ServerOptions,
  sharedEnsemble,
  startEnsemble,
  startZooKeeper,
  supportsEnsemble,
  type TestEnsemble,
  type TestServer,
} from './ensemble.js';
import { started } from './known.js';

/**
 * Servers as their clients see them. There are three if the kind of ZooKeeper has ensembles, and otherwise
 * one.
 */
export interface Reached {
  readonly all: readonly { readonly connectString: string }[];
  readonly connectString: string;
}

export class Servers implements Reached {
  #started: TestEnsemble | TestServer | undefined;

  get all(): readonly TestServer[] {
    return 'servers' in this.#any ? this.#any.servers : [this.#any];
  }

  get connectString(): string {
    return this.#any.connectString;
  }

  /** The ensemble of these servers. Throws if there is only one server. */
  get ensemble(): TestEnsemble {
    if (!('servers' in this.#any))
      throw new Error('there is one server: skip such tests by supportsEnsemble');
    return this.#any;
  }

  async start(options: ServerOptions, how: 'single' | 'best'): Promise<void> {
    const several = supportsEnsemble && how === 'best';
    this.#started = several ? await startEnsemble(3, options) : await startZooKeeper(options);
  }

  async stop(): Promise<void> {
    await this.#started?.stop();
  }

  get #any(): TestEnsemble | TestServer {
    return started(this.#started, 'what serves the tests');
  }
}

/** Starts servers for these tests alone, which harm the servers or configure them differently. */
export function useServers(options: ServerOptions = {}, how: 'single' | 'best' = 'best'): Servers {
  const servers = new Servers();
  beforeAll(() => servers.start({ tickTimeMs: 250, ...options }, how));
  afterAll(() => servers.stop());
  return servers;
}

/**
 * Returns servers that all tests of a run share. Tests must not harm them, and must work under a
 * `uniqueRoot`.
 */
export function useSharedServers(): Reached {
  let shared: readonly string[] | undefined;
  beforeAll(async () => {
    shared = await sharedEnsemble();
  });
  return {
    get all() {
      return started(shared, 'what serves the tests').map((connectString) => ({ connectString }));
    },
    get connectString() {
      return started(shared, 'what serves the tests').join(',');
    },
  };
}
