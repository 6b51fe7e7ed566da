/**
 * Free TCP ports on the loopback interface. They are below the range from which the kernel assigns ports, so
 * a server that is killed and restarted finds its port still free. Another process can take a port between
 * its release here and the caller's bind, so callers retry.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { errorMessage } from '../../src/errors.js';

const lowestPort = 20_000;
const highestPort = 32_700;
const portTries = 5;

/** Returns `count` different ports. Keeps all of them open until the last one is known. */
export async function freePorts(count: number): Promise<number[]> {
  const holders: Holder[] = [];
  try {
    while (holders.length < count) holders.push(await holdOne());
    return holders.map(({ port }) => port);
  } finally {
    await Promise.all(holders.map(({ server }) => closeServer(server)));
  }
}

interface Holder {
  readonly server: Server;
  readonly port: number;
}

async function holdOne(): Promise<Holder> {
  for (;;) {
    const port = lowestPort + Math.floor(Math.random() * (highestPort - lowestPort));
    const server = createServer();
    try {
      await listen(server, port);
      return { server, port };
    } catch (error) {
      if (!isAddressInUse(error)) throw error;
    }
  }
}

/** Listens on 127.0.0.1. Rejects with the socket's error if it cannot. */
export async function listen(server: Server, port: number): Promise<void> {
  server.listen({ host: '127.0.0.1', port });
  await once(server, 'listening');
}

export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  server.close();
  await once(server, 'close');
}

/**
 * Calls `start`, which takes free ports. Calls it again if another process has bound one of the ports first.
 */
export async function withFreePorts<T>(start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      if (!isAddressInUse(error) || attempt === portTries) throw error;
    }
  }
}

/** Whether an error of Node.js, Java or Docker reports that an address is in use. */
function isAddressInUse(error: unknown): boolean {
  return /EADDRINUSE|BindException|address already in use|port is already allocated/.test(
    errorMessage(error),
  );
}
