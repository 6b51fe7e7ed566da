/** The ZooKeeper that is installed on this machine from Debian's packages, run by Java. */
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitOf, hasExited, killAndWait, spawnBound } from '../bound-process.js';
import { freePorts, withFreePorts } from '../ports.js';
import { until } from '../until.js';
import { type ConfigPlace, zooConfig } from './config.js';
import { fourLetterWord, serverMode } from './four-letter-word.js';
import { PeerLinks, type PeerPorts } from './peer-links.js';
import type { ServerOptions, TestEnsemble, TestServer } from './server.js';
import { ServerEnsemble } from './server-ensemble.js';
import { startOrStop } from './start-or-stop.js';

const jarDir = '/usr/share/java';
const jars = ['zookeeper', 'slf4j-simple'];
// Debian's netty-all.jar is empty, and TLS needs the individual jars.
const tlsJars = ['buffer', 'codec', 'common', 'handler', 'resolver', 'transport', 'transport-native-epoll'];
const jvmFlags = ['-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:-UsePerfData'];
const startTimeoutMs = 60_000;

/** Returns why this machine has no such ZooKeeper, or undefined if it has one. */
export function javaIsMissing(): string | undefined {
  const jar = join(jarDir, 'zookeeper.jar');
  if (!existsSync(jar)) return `there is no ${jar} (Debian: apt-get install libzookeeper-java)`;
  const path = (process.env.PATH ?? '').split(':');
  if (path.some((dir) => existsSync(join(dir, 'java')))) return undefined;
  return 'there is no java on the PATH (Debian: apt-get install default-jre-headless)';
}

export function startJavaServer(options: ServerOptions): Promise<TestServer> {
  return withFreePorts(async () => {
    const [clientPort = 0, securePort = 0] = await freePorts(2);
    const server = await JavaServer.create({ id: 1, clientPort, securePort, peers: [], options });
    return startOrStop(server, () => server.restart());
  });
}

export interface JavaEnsemble {
  readonly ensemble: TestEnsemble;
  /** The network between the servers. */
  readonly links: PeerLinks;
  /** Directory of each server's transaction log. */
  readonly dataDirs: readonly string[];
}

export async function startJavaEnsemble(size: number, options: ServerOptions): Promise<TestEnsemble> {
  return (await startOpenJavaEnsemble(size, options)).ensemble;
}

/**
 * Starts an ensemble whose network and data a test can access. `unlike` are options of single servers, in
 * their order. They take precedence over `options`.
 */
export function startOpenJavaEnsemble(
  size: number,
  options: ServerOptions,
  unlike: readonly ServerOptions[] = [],
): Promise<JavaEnsemble> {
  return withFreePorts(async () => {
    const ports = await freePorts(size * 4);
    const peers: PeerPorts[] = [];
    while (peers.length < size) peers.push({ quorum: take(ports), election: take(ports) });
    const links = await PeerLinks.start(peers);
    const places = peers.map((_, index) => ({
      id: index + 1,
      clientPort: take(ports),
      securePort: take(ports),
      peers: links.viewOf(index),
      options: { ...options, ...unlike[index] },
    }));
    const servers = await Promise.all(places.map(JavaServer.create));
    const ensemble = new ServerEnsemble(servers, links);
    await startOrStop(ensemble, () => ensemble.restart());
    return { ensemble, links, dataDirs: servers.map(({ dataDir }) => dataDir) };
  });
}

interface JavaServerPlace {
  readonly id: number;
  readonly clientPort: number;
  readonly securePort: number;
  readonly peers: readonly string[];
  readonly options: ServerOptions;
}

class JavaServer implements TestServer {
  readonly connectString: string;
  readonly #place: JavaServerPlace;
  readonly #dir: string;
  #process: ChildProcess | undefined;

  private constructor(place: JavaServerPlace, dir: string) {
    this.connectString = `127.0.0.1:${place.clientPort}`;
    this.#place = place;
    this.#dir = dir;
  }

  static async create(place: JavaServerPlace): Promise<JavaServer> {
    const dir = await mkdtemp(join(tmpdir(), 'petrel-zookeeper-'));
    const dataDir = join(dir, 'data');
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'myid'), `${place.id}\n`);
    await writeFile(join(dir, 'zoo.cfg'), zooConfig(configPlace(place, dataDir), place.options));
    return new JavaServer(place, dir);
  }

  get dataDir(): string {
    return join(this.#dir, 'data');
  }

  get secureConnectString(): string {
    if (this.#place.options.tls === undefined) throw new Error('this ZooKeeper was started without TLS');
    return `127.0.0.1:${this.#place.securePort}`;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async kill9(): Promise<void> {
    if (this.#process) await killAndWait(this.#process);
  }

  async pause(): Promise<void> {
    this.#running().kill('SIGSTOP');
  }

  async resume(): Promise<void> {
    this.#running().kill('SIGCONT');
  }

  async shutdown(): Promise<void> {
    const running = this.#running();
    running.kill('SIGTERM');
    await exitOf(running);
  }

  async restart({ waitUntilReady = true } = {}): Promise<void> {
    await this.kill9();
    const output = await open(join(this.#dir, 'log'), 'w');
    try {
      this.#process = spawnBound('java', this.#command(), { stdio: ['ignore', output.fd, output.fd] });
    } finally {
      await output.close();
    }
    if (waitUntilReady) await this.ready();
  }

  async ready(): Promise<void> {
    const outcome = await until(
      async () => (await this.#failure()) ?? (await serverMode(this.connectString)),
      {
        timeoutMs: startTimeoutMs,
        intervalMs: 50,
        describe: `ZooKeeper ${this.connectString} to serve clients`,
      },
    );
    if (outcome instanceof Error) throw outcome;
  }

  async isLeader(): Promise<boolean> {
    const mode = await serverMode(this.connectString).catch(() => 'unknown');
    return mode === 'leader' || mode === 'standalone';
  }

  fourLetterWord(word: string): Promise<string> {
    return fourLetterWord(this.connectString, word);
  }

  async log(): Promise<string> {
    const text = await readFile(join(this.#dir, 'log'), 'utf8').catch(() => '');
    return text.slice(-20_000);
  }

  async stop(): Promise<void> {
    await this.kill9();
    await rm(this.#dir, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #command(): string[] {
    const { options } = this.#place;
    const names = options.tls === undefined ? jars : [...jars, ...tlsJars.map((part) => `netty-${part}`)];
    const classPath = names.map((name) => join(jarDir, `${name}.jar`)).join(':');
    return [
      ...jvmFlags,
      ...(options.jvmFlags ?? []),
      '-cp',
      classPath,
      'org.apache.zookeeper.server.quorum.QuorumPeerMain',
      join(this.#dir, 'zoo.cfg'),
    ];
  }

  #running(): ChildProcess {
    if (this.#process === undefined || hasExited(this.#process)) {
      throw new Error(`ZooKeeper ${this.connectString} does not run`);
    }
    return this.#process;
  }

  async #failure(): Promise<Error | undefined> {
    if (this.#process === undefined || !hasExited(this.#process)) return undefined;
    const log = await this.log();
    const message = `ZooKeeper ${this.connectString} ended with code ${this.#process.exitCode}:\n${log}`;
    return new Error(message);
  }
}

function configPlace(place: JavaServerPlace, dataDir: string): ConfigPlace {
  const { tls } = place.options;
  return {
    dataDir,
    clientAddress: '127.0.0.1',
    clientPort: place.clientPort,
    peers: place.peers,
    ...(tls && { secure: { ...tls, port: place.securePort } }),
  };
}

function take(ports: number[]): number {
  const port = ports.pop();
  if (port === undefined) throw new Error('more ports are needed than were requested');
  return port;
}
