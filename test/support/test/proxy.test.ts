import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeServer, freePorts, listen } from '../ports.js';
import { startProxy, type TcpProxy } from '../proxy.js';
import { until } from '../until.js';

/** An echo server, and clients that keep the data that they received. */
let server: Server;
let served: Socket[];
let proxy: TcpProxy;
let clients: Client[];

beforeEach(async () => {
  served = [];
  clients = [];
  server = createServer((socket) => {
    served.push(socket);
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  const [port = 0] = await freePorts(1);
  await listen(server, port);
  proxy = await startProxy({ target: `127.0.0.1:${port}` });
});

afterEach(async () => {
  for (const client of clients) client.socket.destroy();
  await proxy.stop();
  for (const socket of served) socket.destroy();
  await closeServer(server);
});

interface Client {
  readonly socket: Socket;
  received: string;
  ended: 'no' | 'closed' | 'reset';
}

async function open(): Promise<Client> {
  const socket = connect(proxy.port, '127.0.0.1');
  const client: Client = { socket, received: '', ended: 'no' };
  clients.push(client);
  socket.on('data', (chunk: Buffer) => {
    client.received += chunk.toString();
  });
  await once(socket, 'connect');
  socket.on('error', () => {
    client.ended = 'reset';
  });
  socket.on('end', () => {
    client.ended = 'closed';
  });
  return client;
}

async function echo(client: Client, text: string): Promise<void> {
  const before = client.received.length;
  client.socket.write(text);
  await until(() => client.received.slice(before) === text);
}

describe('the proxy', () => {
  it('forwards both ways, and the end of a connection', async () => {
    const client = await open();
    await echo(client, 'hello');
    expect(proxy.open).toBe(1);
    client.socket.end();
    await until(() => client.ended === 'closed' && proxy.open === 0);
    expect(proxy.accepted).toBe(1);
  });

  it('holds everything in a black hole, and delivers it when healed', async () => {
    const client = await open();
    await echo(client, 'a');
    proxy.blackHole();
    client.socket.write('b');
    const late = await open();
    late.socket.write('c');
    await until(() => client.socket.bytesWritten === 2);
    // A round trip on another connection shows that enough time has passed for one on this connection.
    await throughAnotherProxy();
    expect(client.received).toBe('a');
    expect(served).toHaveLength(2);
    await proxy.heal();
    await until(() => client.received === 'ab' && late.received === 'c');
    expect([client.ended, late.ended]).toEqual(['no', 'no']);
  });

  it('can hold replies alone', async () => {
    const client = await open();
    await echo(client, 'a');
    proxy.blackHole('toClient');
    client.socket.write('b');
    await until(() => served[0]?.bytesRead === 2);
    await throughAnotherProxy();
    expect(client.received).toBe('a');
    await proxy.heal();
    await until(() => client.received === 'ab');
  });

  it('delays', async () => {
    const client = await open();
    proxy.delay(150, 'toServer');
    const startedAtMs = performance.now();
    await echo(client, 'slow');
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(149);
  });

  it('throttles', async () => {
    const client = await open();
    proxy.throttle(2_000, 'toClient');
    const startedAtMs = performance.now();
    await echo(client, 'x'.repeat(600));
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(200);
  });

  it('cuts a reply in its middle', async () => {
    const client = await open();
    await echo(client, 'whole');
    proxy.cutAfter(3);
    client.socket.write('in two');
    await until(() => client.ended !== 'no');
    expect(client.received).toBe('wholein ');
    const next = await open();
    next.socket.write('again');
    await until(() => next.ended !== 'no');
    expect(next.received).toBe('aga');
  });

  it('resets what is open and takes new connections', async () => {
    const client = await open();
    await echo(client, 'a');
    proxy.resetAll();
    await until(() => client.ended === 'reset');
    await echo(await open(), 'b');
  });

  it('refuses new connections and keeps the open ones', async () => {
    const client = await open();
    await echo(client, 'a');
    proxy.refuse();
    await expect(open()).rejects.toThrow('ECONNREFUSED');
    await echo(client, 'b');
    await proxy.heal();
    await echo(await open(), 'c');
  });

  it('resets a client whose server is gone', async () => {
    const [port = 0] = await freePorts(1);
    proxy.retarget(`127.0.0.1:${port}`);
    const client = await open();
    await until(() => client.ended === 'reset');
  });

  it('keeps a client waiting for a server that does not listen yet', async () => {
    const [port = 0] = await freePorts(1);
    await using patient = await startProxy({ target: `127.0.0.1:${port}`, patienceMs: 10_000 });
    const socket = connect(patient.port, '127.0.0.1');
    await once(socket, 'connect');
    await listen(server.close(), port);
    socket.write('ping');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toBe('ping');
    socket.destroy();
  });

  it('drops a connection whose client died in a black hole', async () => {
    const client = await open();
    await echo(client, 'a');
    proxy.blackHole();
    client.socket.resetAndDestroy();
    await until(() => proxy.open === 0);
    expect(served[0]?.destroyed).toBe(false);
    await proxy.heal();
    await until(() => served[0]?.destroyed === true);
  });
});

async function throughAnotherProxy(): Promise<void> {
  await using other = await startProxy({ target: `127.0.0.1:${portOf(server)}` });
  const socket = connect(other.port, '127.0.0.1');
  socket.write('ping');
  await once(socket, 'data');
  socket.destroy();
}

function portOf(listening: Server): number {
  const address = listening.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return address.port;
}
