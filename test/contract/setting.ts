/** Sets up the ZooKeeper that the contract tests run against. Its clients are closed after each test. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { startZooKeeper, type TestServer, uniqueRoot } from '../support/ensemble.js';
import { type Handshake, WireClient } from './wire-client.js';

export const tickTimeMs = 500;

export interface Setting {
  /** The `host:port` of a server that only this test file uses. */
  readonly address: string;
  /** A znode that only the current test uses. */
  readonly root: string;
  /** Opens a new client, with a new session by default. */
  connect(handshake?: Handshake): Promise<WireClient>;
  /** Opens a connection without sending anything. */
  dial(): Promise<WireClient>;
}

/** Prepares the server and its clients. Call this once per test file. */
export function contractSetting(): Setting {
  const clients: WireClient[] = [];
  let server: TestServer;
  const setting = {
    address: '',
    root: '',
    connect: (handshake?: Handshake) => keep(WireClient.connect(setting.address, handshake)),
    dial: () => keep(WireClient.dial(setting.address)),
  };
  async function keep(opening: Promise<WireClient>): Promise<WireClient> {
    const client = await opening;
    clients.push(client);
    return client;
  }

  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs });
    setting.address = server.connectString;
  });
  beforeEach(async () => {
    setting.root = uniqueRoot('contract');
    const client = await setting.connect();
    await client.create(setting.root);
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.leave()));
  });
  afterAll(async () => {
    await server?.stop();
  });
  return setting;
}
