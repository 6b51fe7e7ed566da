/** Several servers of any kind, and the network between them. */
import { until } from '../until.js';
import type { RestartOptions, TestEnsemble, TestServer } from './server.js';

export interface PeerNetwork {
  isolate(index: number): Promise<void>;
  heal(): Promise<void>;
  stop(): Promise<void>;
}

export class ServerEnsemble implements TestEnsemble {
  readonly servers: readonly TestServer[];
  readonly #network: PeerNetwork;

  constructor(servers: readonly TestServer[], network: PeerNetwork) {
    this.servers = servers;
    this.#network = network;
  }

  get connectString(): string {
    return this.servers.map((server) => server.connectString).join(',');
  }

  async restart(options?: RestartOptions): Promise<void> {
    await Promise.all(this.servers.map((server) => server.restart(options)));
  }

  async ready(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.ready()));
  }

  async leader(): Promise<TestServer> {
    try {
      return await until(
        async () => {
          const leads = await Promise.all(this.servers.map((server) => server.isLeader()));
          return this.servers.find((_, index) => leads[index]);
        },
        { timeoutMs: 60_000, describe: 'a leader of the ensemble' },
      );
    } catch (error) {
      for (const server of this.servers)
        process.stdout.write(`--- log of ${server.connectString}\n${(await server.log()).slice(-3_000)}\n`);
      throw error;
    }
  }

  isolate(index: number): Promise<void> {
    return this.#network.isolate(index);
  }

  heal(): Promise<void> {
    return this.#network.heal();
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
    await this.#network.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
