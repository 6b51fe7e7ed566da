/**
 * Runs the unmodified client library, to compare its faults with Petrel's store. A fault's test proves
 * nothing unless the library itself shows the fault.
 */
import { execFile } from 'node:child_process';
import { type EventEmitter, once } from 'node:events';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

/** The parts of the library that the tests call. Petrel itself does not use most of them. */
export interface StockClient extends EventEmitter {
  connectionManager: {
    connect: () => void;
    queue: (request: object, callback?: (error: StockError) => void) => void;
    socket: Socket | undefined;
    xid: number;
  };
  connect(): void;
  close(): void;
  getState(): { name: string };
  getSessionId(): Buffer;
  addAuthInfo(scheme: string, auth: Buffer): void;
  create(path: string, callback: (error: StockError, path: string) => void): void;
  create(
    path: string,
    modeOrData: number | Buffer,
    callback: (error: StockError, path: string) => void,
  ): void;
  setData(path: string, data: Buffer | null, callback: (error: StockError) => void): void;
  getData(
    path: string,
    callback: (error: StockError, data: Buffer | undefined, stat: StockStat) => void,
  ): void;
  exists(path: string, callback: (error: StockError, stat: StockStat | null) => void): void;
  exists(path: string, watcher: () => void, callback: (error: StockError) => void): void;
  transaction(): StockTransaction;
}

export type StockError = (Error & { code?: number; name: string }) | null | undefined;

export interface StockStat {
  czxid: Buffer;
  ephemeralOwner: Buffer;
}

interface StockTransaction {
  check(path: string, version: number): StockTransaction;
  setData(path: string, data: Buffer, version: number): StockTransaction;
  commit(callback: (error: StockError) => void): void;
}

export interface StockOptions {
  readonly sessionTimeout?: number;
  readonly spinDelay?: number;
  readonly retries?: number;
}

interface StockLibrary {
  createClient(connectString: string, options: StockOptions): StockClient;
}

const library: StockLibrary = createRequire(import.meta.url)('node-zookeeper-client');

export interface Stock extends Disposable {
  readonly client: StockClient;
  /** Names of the events so far. The names are connected, disconnected, expired and authenticationFailed. */
  readonly events: string[];
}

/** Creates a client of the library. The client does not connect yet. */
export function stock(connectString: string, options: StockOptions = {}): Stock {
  const client = library.createClient(connectString, {
    sessionTimeout: 2000,
    spinDelay: 50,
    retries: 0,
    ...options,
  });
  const events: string[] = [];
  for (const name of ['connected', 'disconnected', 'expired', 'authenticationFailed']) {
    client.on(name, () => events.push(name));
  }
  return { client, events, [Symbol.dispose]: () => silence(client) };
}

export async function connectedStock(connectString: string, options: StockOptions = {}): Promise<Stock> {
  const opened = stock(connectString, options);
  opened.client.connect();
  await once(opened.client, 'connected');
  return opened;
}

/**
 * Ends the client by replacing its methods, because the library's own `close` does not end it in all cases.
 */
function silence(client: StockClient): void {
  client.connectionManager.connect = () => undefined;
  client.connectionManager.queue = () => undefined;
  client.connectionManager.socket?.destroy();
}

/**
 * Runs a script with a stock client in a separate process. The script can use `client`, which is created for
 * `connectString`, and must end the process with `process.exit()`. If the process fails, resolves with its
 * stderr output and the error message. Otherwise resolves with undefined.
 */
export function crashOfStock(connectString: string, script: string): Promise<string | undefined> {
  const options = JSON.stringify({ sessionTimeout: 2000, spinDelay: 50 });
  const source = `
    const zookeeper = require('node-zookeeper-client');
    const client = zookeeper.createClient(${JSON.stringify(connectString)}, ${options});
    ${script}`;
  return new Promise((resolve) => {
    execFile(process.execPath, ['-e', source], { timeout: 10_000 }, (error, _stdout, stderr) => {
      resolve(error === null ? undefined : `${stderr} (${error.message})`);
    });
  });
}
