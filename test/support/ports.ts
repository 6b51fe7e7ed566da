/**
 * Free TCP ports on the loopback interface. They are below the range from which the kernel assigns ports, so
 * a server that is killed and restarted finds its port still free.
 *
 * A port that is not in use all the time must not be given to another test. An example is the port that a
 * ZooKeeper server opens only when it becomes the leader: if the port is taken by then, the ensemble never
 * gets a leader. So each port is reserved until this process exits. A reservation is a UDP socket with the
 * same number, at an address that nothing else uses.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { errorMessage } from '../../src/errors.js';

const lowestPort = 20_000;
const highestPort = 32_700;
const portTries = 5;
const reservedAt = '127.89.89.89';

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
    const reservation = await reserve(port);
    if (reservation === null) continue;
    const server = createServer();
    try {
      await listen(server, port);
      return { server, port };
    } catch (error) {
      reservation.close();
      if (!isAddressInUse(error)) throw error;
    }
  }
}

/** Reserves a port until this process exits. Returns null if this or another process has reserved it. */
async function reserve(port: number): Promise<Socket | null> {
  const socket = createSocket('udp4').unref();
  try {
    socket.bind({ address: reservedAt, port, exclusive: true });
    await once(socket, 'listening');
    return socket;
  } catch (error) {
    socket.close();
    if (isAddressInUse(error)) return null;
    throw error;
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
