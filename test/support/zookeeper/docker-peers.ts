/**
 * The network between the servers of one ensemble in Docker. It carries only the traffic between servers.
 * Clients use the published ports over another network. They stay connected when a server is removed from
 * this one.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { getContainerRuntimeClient, getReaper, LABEL_TESTCONTAINERS_SESSION_ID } from 'testcontainers';
import { errorMessage } from '../../../src/errors.js';
import type { PeerNetwork } from './server-ensemble.js';

const subnetTries = 20;
const firstHost = 11;

type Client = Awaited<ReturnType<typeof getContainerRuntimeClient>>;
type Network = ReturnType<Client['network']['getById']>;

export class DockerPeers implements PeerNetwork {
  readonly #network: Network;
  /** The first three bytes of the addresses in this network. */
  readonly #subnet: string;
  readonly #size: number;
  readonly #containers: string[] = [];
  readonly #isolated = new Set<number>();

  private constructor(network: Network, subnet: string, size: number) {
    this.#network = network;
    this.#subnet = subnet;
    this.#size = size;
  }

  static async create(size: number): Promise<DockerPeers> {
    for (let attempt = 1; ; attempt += 1) {
      const subnet = `10.${randomInt(64, 250)}.${randomInt(0, 256)}`;
      try {
        return new DockerPeers(await createNetwork(`${subnet}.0/24`), subnet, size);
      } catch (error) {
        if (!errorMessage(error).includes('overlap') || attempt === subnetTries) throw error;
      }
    }
  }

  /** Returns the `server.N=` lines that every server of the ensemble has. */
  serverLines(): string[] {
    const lines = Array.from({ length: this.#size }, (_, index) => {
      return `server.${index + 1}=${this.#address(index)}:2888:3888`;
    });
    // A server joins this network after its start, and may be removed from it.
    return [...lines, 'quorumListenOnAllIPs=true'];
  }

  /** Adds a container to the network as the next server. */
  async add(containerId: string): Promise<void> {
    this.#containers.push(containerId);
    await this.#connect(this.#containers.length - 1);
  }

  async isolate(index: number): Promise<void> {
    await this.#network.disconnect({ Container: this.#container(index), Force: true });
    this.#isolated.add(index);
  }

  async heal(): Promise<void> {
    for (const index of this.#isolated) {
      await this.#connect(index);
      this.#isolated.delete(index);
    }
  }

  async stop(): Promise<void> {
    await this.#network.remove();
  }

  async #connect(index: number): Promise<void> {
    await this.#network.connect({
      Container: this.#container(index),
      EndpointConfig: { IPAMConfig: { IPv4Address: this.#address(index) } },
    });
  }

  #container(index: number): string {
    const id = this.#containers[index];
    if (id === undefined) throw new Error(`no server ${index} in an ensemble of ${this.#size}`);
    return id;
  }

  #address(index: number): string {
    return `${this.#subnet}.${firstHost + index}`;
  }
}

async function createNetwork(subnet: string): Promise<Network> {
  const client = await getContainerRuntimeClient();
  const reaper = await getReaper(client);
  return client.network.create({
    Name: `petrel-peers-${randomBytes(6).toString('hex')}`,
    Driver: 'bridge',
    Internal: true,
    IPAM: { Driver: 'default', Config: [{ Subnet: subnet }] },
    Labels: { 'org.testcontainers': 'true', [LABEL_TESTCONTAINERS_SESSION_ID]: reaper.sessionId },
  });
}
