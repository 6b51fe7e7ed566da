/** ZooKeeper in Docker containers. The image must read /conf/zoo.cfg, as the official one does. */
import {
  GenericContainer,
  getContainerRuntimeClient,
  ImageName,
  type StartedTestContainer,
  type WaitStrategy,
} from 'testcontainers';
import { freePorts, withFreePorts } from '../ports.js';
import { until } from '../until.js';
import { zooConfig } from './config.js';
import { DockerPeers } from './docker-peers.js';
import { fourLetterWord, serverMode } from './four-letter-word.js';
import type { RestartOptions, ServerOptions, TestEnsemble, TestServer } from './server.js';
import { ServerEnsemble } from './server-ensemble.js';
import { startOrStop } from './start-or-stop.js';

const clientPort = 2181;
const securePort = 2281;
const keyStorePath = '/conf/server.pem';
const trustStorePath = '/conf/trusted.pem';
const startTimeoutMs = 90_000;

/** Rejects if there is no Docker daemon, or if the image is neither present nor available for download. */
export async function requireDocker(image: string): Promise<void> {
  const { image: images } = await getContainerRuntimeClient();
  const name = ImageName.fromString(image);
  if (!(await images.exists(name))) await images.pull(name);
}

export async function startDockerServer(image: string, options: ServerOptions): Promise<TestServer> {
  const server = await DockerServer.create({ image, id: 1, peers: [], options });
  return startOrStop(server, () => server.ready());
}

export async function startDockerEnsemble(
  image: string,
  size: number,
  options: ServerOptions,
): Promise<TestEnsemble> {
  const network = await DockerPeers.create(size);
  const servers: DockerServer[] = [];
  const ensemble = new ServerEnsemble(servers, network);
  return startOrStop(ensemble, async () => {
    for (let id = 1; id <= size; id += 1) {
      const server = await DockerServer.create({ image, id, peers: network.serverLines(), options });
      servers.push(server);
      await network.add(server.containerId);
    }
    await ensemble.ready();
  });
}

interface DockerServerPlace {
  readonly image: string;
  readonly id: number;
  readonly peers: readonly string[];
  readonly options: ServerOptions;
}

type Container = ReturnType<Awaited<ReturnType<typeof getContainerRuntimeClient>>['container']['getById']>;

class DockerServer implements TestServer {
  readonly pid = undefined;
  readonly connectString: string;
  readonly #place: DockerServerPlace;
  readonly #started: StartedTestContainer;
  readonly #container: Container;

  private constructor(place: DockerServerPlace, started: StartedTestContainer, container: Container) {
    this.#place = place;
    this.#started = started;
    this.#container = container;
    this.connectString = this.#published(clientPort);
  }

  static async create(place: DockerServerPlace): Promise<DockerServer> {
    const { container: containers } = await getContainerRuntimeClient();
    const started = await withFreePorts(() => startContainer(place));
    return new DockerServer(place, started, containers.getById(started.getId()));
  }

  get containerId(): string {
    return this.#started.getId();
  }

  get secureConnectString(): string {
    if (this.#place.options.tls === undefined) throw new Error('this ZooKeeper was started without TLS');
    return this.#published(securePort);
  }

  async kill9(): Promise<void> {
    if (await this.#isRunning()) await this.#container.kill({ signal: 'SIGKILL' });
    await until(async () => !(await this.#isRunning()), { describe: 'the container to be dead' });
  }

  async pause(): Promise<void> {
    await this.#container.pause();
  }

  async resume(): Promise<void> {
    await this.#container.unpause();
  }

  async shutdown(): Promise<void> {
    await this.#container.stop({ t: 10 });
  }

  async restart({ waitUntilReady = true }: RestartOptions = {}): Promise<void> {
    await this.kill9();
    await this.#container.start();
    if (waitUntilReady) await this.ready();
  }

  async ready(): Promise<void> {
    const outcome = await until(async () => (await this.#failure()) ?? serverMode(this.connectString), {
      timeoutMs: startTimeoutMs,
      intervalMs: 100,
      describe: `ZooKeeper ${this.connectString} to serve clients`,
    });
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
    const output = await this.#container.logs({ stdout: true, stderr: true, tail: 200, follow: false });
    return output.toString();
  }

  async stop(): Promise<void> {
    await this.#container.remove({ force: true, v: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #published(port: number): string {
    const host = this.#started.getHost();
    return `${host === 'localhost' ? '127.0.0.1' : host}:${this.#started.getMappedPort(port)}`;
  }

  async #isRunning(): Promise<boolean> {
    const { State } = await this.#container.inspect();
    return State.Running;
  }

  async #failure(): Promise<Error | undefined> {
    if (await this.#isRunning()) return undefined;
    return new Error(`ZooKeeper ${this.connectString} has ended:\n${await this.log()}`);
  }
}

/**
 * Starts a container. Publishes its ports on host ports that we choose, because Docker would assign different
 * ones at each start.
 */
async function startContainer({
  image,
  id,
  peers,
  options,
}: DockerServerPlace): Promise<StartedTestContainer> {
  const [hostPort = 0, secureHostPort = 0] = await freePorts(2);
  const config = zooConfig(
    {
      dataDir: '/data',
      clientAddress: '0.0.0.0',
      clientPort,
      peers,
      ...(options.tls && { secure: { port: securePort, keyStorePath, trustStorePath } }),
    },
    options,
  );
  const container = new GenericContainer(image)
    .withEnvironment({
      ZOO_MY_ID: String(id),
      ZK_SERVER_HEAP: '128',
      SERVER_JVMFLAGS: ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', ...(options.jvmFlags ?? [])].join(' '),
    })
    .withExposedPorts({ container: clientPort, host: hostPort })
    .withCopyContentToContainer([{ content: config, target: '/conf/zoo.cfg', mode: 0o644 }])
    .withWaitStrategy(noWaiting);
  if (options.tls) {
    container.withExposedPorts({ container: securePort, host: secureHostPort }).withCopyFilesToContainer([
      { source: options.tls.keyStorePath, target: keyStorePath, mode: 0o644 },
      { source: options.tls.trustStorePath, target: trustStorePath, mode: 0o644 },
    ]);
  }
  return container.start();
}

/**
 * Does not wait for the container, because we poll the server itself. Servers of an ensemble are ready only
 * after all of them have started.
 */
const noWaiting: WaitStrategy = {
  waitUntilReady: async () => undefined,
  withStartupTimeout: () => noWaiting,
  isStartupTimeoutSet: () => true,
  getStartupTimeout: () => startTimeoutMs,
};
