/** The ZooKeeper that a contract's cases run against, and clients of it that are closed after each case. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { startZooKeeper, type TestServer, uniqueRoot } from '../support/ensemble.js';
import { type Handshake, WireClient } from './wire-client.js';

export const tickTimeMs = 500;

export interface Setting {
  /** `host:port` of a server that this file has to itself. */
  readonly address: string;
  /** A znode of this case alone. */
  readonly root: string;
  /** A new client, with a new session unless told otherwise. */
  connect(handshake?: Handshake): Promise<WireClient>;
  /** A connection on which nothing has been said yet. */
  dial(): Promise<WireClient>;
}

/** To be called once in a file. */
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
