/** Starts servers for the contenders. The servers run only during the benchmark. */
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { isStoreError, type Store } from '../src/ports/store.js';
import { openStore, parseConnectionString } from '../src/zookeeper/index.js';
import { exitOf, spawnBound } from '../test/support/bound-process.js';
import { freePorts, withFreePorts } from '../test/support/ports.js';
import { until } from '../test/support/until.js';
import { startEmbeddedServer } from '../test/support/zookeeper/embedded.js';
import { startJavaEnsemble, startJavaServer } from '../test/support/zookeeper/java.js';

export const tickTimeMs = 500;
const options = {
  tickTimeMs,
  maxSessionTimeoutMs: 120_000,
  // As in production, committed data is on the disk.
  extraConfig: ['forceSync=yes'],
  jvmFlags: ['-Xmx512m'],
};

export class ZooKeeper implements AsyncDisposable {
  readonly description: string;
  readonly connect: string;
  /** The session of the benchmark itself. */
  readonly store: Store;
  readonly #stop: () => Promise<void>;

  private constructor(description: string, connect: string, stop: () => Promise<void>) {
    this.description = description;
    this.connect = connect;
    this.#stop = stop;
    this.store = this.open(30_000);
  }

  /** Starts servers. `embedded` starts the development server, for the benchmark's own test. */
  static async start(servers: 1 | 3 | 'embedded'): Promise<ZooKeeper> {
    const started = await startServers(servers);
    const description = servers === 3 ? 'three servers' : servers === 1 ? 'one server' : 'embedded';
    const zookeeper = new ZooKeeper(description, started.connectString, () => started.stop());
    await zookeeper.store.connected();
    return zookeeper;
  }

  /** Opens a store with a separate session. */
  open(sessionTimeoutMs: number): Store {
    return openStore({ servers: parseConnectionString(this.connect), sessionTimeoutMs });
  }

  async entries(path: string): Promise<number> {
    try {
      return (await this.store.getChildren(path)).children.length;
    } catch (error) {
      if (isStoreError(error, 'NO_NODE')) return 0;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    await this.#stop();
  }
}

function startServers(servers: 1 | 3 | 'embedded') {
  if (servers === 'embedded') return startEmbeddedServer({ maxSessionTimeoutMs: 120_000 });
  return servers === 1 ? startJavaServer(options) : startJavaEnsemble(servers, options);
}

const rangeSchema = z.object({ count: z.string().optional() });

export class Etcd implements AsyncDisposable {
  readonly connect: string;
  readonly #process: ChildProcess;
  readonly #directory: string;

  private constructor(connect: string, child: ChildProcess, directory: string) {
    this.connect = connect;
    this.#process = child;
    this.#directory = directory;
  }

  /** Starts one etcd server. */
  static async start(): Promise<Etcd> {
    const directory = await mkdtemp(join(tmpdir(), 'petrel-etcd-'));
    return await withFreePorts(async () => {
      const [clients = 0, members = 0] = await freePorts(2);
      const [at, between] = [`http://127.0.0.1:${clients}`, `http://127.0.0.1:${members}`];
      const args = [
        ...['--data-dir', join(directory, 'data'), '--log-level', 'error'],
        ...['--listen-client-urls', at, '--advertise-client-urls', at],
        ...['--listen-peer-urls', between, '--initial-advertise-peer-urls', between],
        ...['--initial-cluster', `default=${between}`],
      ];
      const etcd = new Etcd(at, spawnBound('etcd', args, { stdio: 'ignore' }), directory);
      await until(async () => (await fetch(`${at}/health`)).ok, {
        timeoutMs: 20_000,
        describe: 'etcd to serve',
      });
      return etcd;
    });
  }

  async entries(path: string): Promise<number> {
    // The range contains all keys with this prefix. Its end is the first key without the prefix.
    const range = { key: base64(`${path}/`), range_end: base64(`${path}0`), count_only: true };
    const answer = await fetch(`${this.connect}/v3/kv/range`, {
      method: 'POST',
      body: JSON.stringify(range),
    });
    return Number(rangeSchema.parse(await answer.json()).count ?? 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGTERM');
    await exitOf(this.#process);
    await rm(this.#directory, { recursive: true, force: true });
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
