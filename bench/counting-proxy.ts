/** A proxy in front of one ZooKeeper server that counts requests and notifications by kind. */
import { type AddressInfo, createServer, connect as dial, type Server, type Socket } from 'node:net';
import { FrameReader } from '../src/zookeeper/frames.js';

/** Traffic since the proxy was started. */
export interface Traffic {
  /** Number of requests by operation, without pings. */
  readonly requests: Readonly<Record<string, number>>;
  readonly pings: number;
  readonly notifications: number;
  /** Number of bytes in both directions, including pings. */
  readonly bytes: number;
  readonly notificationBytes: number;
}

const operations: Readonly<Record<number, string>> = {
  1: 'create',
  2: 'delete',
  3: 'exists',
  4: 'getData',
  5: 'setData',
  6: 'getAcl',
  7: 'setAcl',
  8: 'getChildren',
  9: 'sync',
  11: 'ping',
  12: 'getChildren2',
  14: 'multi',
  15: 'create2',
  17: 'checkWatches',
  18: 'removeWatches',
  19: 'createContainer',
  22: 'multiRead',
  [-11]: 'closeSession',
  100: 'auth',
  101: 'setWatches',
};

export function requestCount({ requests }: Pick<Traffic, 'requests'>): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}

export function trafficBetween(before: Traffic, after: Traffic): Traffic {
  const kinds = Object.entries(after.requests).map(
    ([kind, count]) => [kind, count - (before.requests[kind] ?? 0)] as const,
  );
  return {
    requests: Object.fromEntries(kinds.filter(([, count]) => count > 0)),
    pings: after.pings - before.pings,
    notifications: after.notifications - before.notifications,
    bytes: after.bytes - before.bytes,
    notificationBytes: after.notificationBytes - before.notificationBytes,
  };
}

export class CountingProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #sockets = new Set<Socket>();
  readonly #requests: Record<string, number> = {};
  #pings = 0;
  #notifications = 0;
  #bytes = 0;
  #notificationBytes = 0;
  readonly #server: Server = createServer({ noDelay: true }, (client) => this.#forward(client));

  private constructor(target: string) {
    const [host = '', port] = target.split(':');
    this.#target = { host, port: Number(port) };
  }

  /** @param target `host:port` of a ZooKeeper server. */
  static start(target: string): Promise<CountingProxy> {
    const proxy = new CountingProxy(target);
    return new Promise((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(0, '127.0.0.1', 2048, () => resolve(proxy));
    });
  }

  get address(): string {
    const address = this.#server.address();
    if (!isNetwork(address)) throw new Error('the proxy does not listen');
    return `127.0.0.1:${address.port}`;
  }

  get traffic(): Traffic {
    return {
      requests: { ...this.#requests },
      pings: this.#pings,
      notifications: this.#notifications,
      bytes: this.#bytes,
      notificationBytes: this.#notificationBytes,
    };
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #forward(client: Socket): void {
    const server = dial({ ...this.#target, noDelay: true });
    const ends = [client, server];
    for (const socket of ends) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        for (const end of ends) end.destroy();
      });
    }
    this.#count(client, server, (frame) => this.#countRequest(frame));
    this.#count(server, client, (frame) => this.#countReply(frame));
  }

  /** The first frame in each direction is the handshake. */
  #count(from: Socket, to: Socket, count: (frame: Buffer) => void): void {
    const reader = new FrameReader();
    let isHandshake = true;
    from.on('data', (chunk: Buffer) => {
      to.write(chunk);
      this.#bytes += chunk.length;
      for (const frame of reader.push(chunk)) {
        if (!isHandshake) count(frame);
        isHandshake = false;
      }
    });
  }

  #countRequest(frame: Buffer): void {
    const type = frame.readInt32BE(4);
    const kind = operations[type] ?? `type ${type}`;
    if (kind === 'ping') this.#pings++;
    else this.#requests[kind] = (this.#requests[kind] ?? 0) + 1;
  }

  #countReply(frame: Buffer): void {
    const isNotification = frame.readInt32BE(0) === -1;
    if (!isNotification) return;
    this.#notifications++;
    this.#notificationBytes += frame.length + 4;
  }
}

function isNetwork(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null;
}
