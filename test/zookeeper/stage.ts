/**
 * A session with servers that consist of byte streams in memory, in time that only the test moves. The test
 * plays the servers.
 */
import jute from 'node-zookeeper-client/lib/jute/index.js';
import { JuteReader, JuteWriter } from '../../src/embedded/jute.js';
import { openAcl } from '../../src/model/acl.js';
import type { StoreError, StoreState } from '../../src/ports/store.js';
import type { Dial, Endpoint, WireEvents } from '../../src/zookeeper/dial.js';
import { FrameReader } from '../../src/zookeeper/frames.js';
import { parseConnectionString } from '../../src/zookeeper/index.js';
import { ZooKeeperStore, type ZooKeeperStoreOptions } from '../../src/zookeeper/store.js';
import { HandClock, settled } from '../support/hand-clock.js';
import { handshakeAnswer, op, type Request, reply } from './fake-server.js';
import { failureOf, type LogEntry } from './probe.js';

/** One connection, seen from the server. */
export class Stream {
  readonly endpoint: Endpoint;
  readonly events: WireEvents;
  /** Frames that the client has sent, oldest first. The first one is the handshake. */
  readonly frames: Buffer[] = [];
  isDestroyed = false;
  readonly #reader = new FrameReader();

  constructor(endpoint: Endpoint, events: WireEvents) {
    this.endpoint = endpoint;
    this.events = events;
  }

  write(bytes: Buffer): void {
    this.frames.push(...this.#reader.push(bytes));
  }

  /** All requests after the handshake. */
  get requests(): Request[] {
    return this.frames.slice(1).map((frame) => {
      const body = new JuteReader(frame);
      return { xid: body.int(), type: body.int(), body };
    });
  }

  get types(): number[] {
    return this.requests.map(({ type }) => type);
  }

  get pings(): number {
    return this.types.filter((type) => type === op.PING).length;
  }

  get handshake() {
    const [frame] = this.frames;
    if (frame === undefined) return undefined;
    const body = new JuteReader(frame);
    const version = body.int();
    const [lastZxidSeen, timeoutMs, sessionId] = [body.long(), body.int(), body.long()];
    return { version, lastZxidSeen, timeoutMs, sessionId, password: body.buffer()?.toString() };
  }

  /** Opens the connection and grants a session. */
  async grant({ sessionId = 7n, timeoutMs = 6_000 } = {}): Promise<void> {
    this.events.opened();
    await this.send(handshakeAnswer({ sessionId, timeoutMs }));
  }

  async send(bytes: Buffer): Promise<void> {
    this.events.received(bytes);
    await settled();
  }

  async reply(xid: number, content: Parameters<typeof reply>[1] = {}): Promise<void> {
    await this.send(reply(xid, content));
  }

  async pong(): Promise<void> {
    await this.reply(jute.XID_PING);
  }

  async notify(type: number, path: string): Promise<void> {
    const body = new JuteWriter().int(type).int(3).string(path).bytes();
    await this.reply(jute.XID_NOTIFICATION, { zxid: -1n, body });
  }

  async close(): Promise<void> {
    this.events.closed();
    await settled();
  }
}

/** Returns a dial whose connections are streams in memory, and adds each of them to `streams`. */
export function dialInto(streams: Stream[]): Dial {
  return (endpoint, events) => {
    const stream = new Stream(endpoint, events);
    streams.push(stream);
    return {
      write: (bytes) => stream.write(bytes),
      destroy: () => {
        stream.isDestroyed = true;
      },
    };
  };
}

export interface Stage {
  readonly clock: HandClock;
  readonly store: ZooKeeperStore;
  /** All connections that the client has dialled, oldest first. */
  readonly streams: readonly Stream[];
  readonly states: StoreState[];
  readonly changes: string[];
  readonly logged: LogEntry[];
}

/** Opens a session. The first stream has been dialled, and is not open yet. Pauses take half their limit. */
export async function stage(
  servers = '10.0.0.1:2181',
  options: Partial<ZooKeeperStoreOptions> = {},
): Promise<Stage> {
  const [clock, streams] = [new HandClock(), [] as Stream[]];
  const [states, changes, logged]: [StoreState[], string[], LogEntry[]] = [[], [], []];
  const log = (level: string) => (fields: object, message: string) => logged.push({ level, fields, message });
  const store = new ZooKeeperStore({
    servers: parseConnectionString(servers),
    sessionTimeoutMs: 6_000,
    callTimeoutMs: 1_000_000,
    clock,
    credentials: [],
    acl: () => openAcl,
    dial: dialInto(streams),
    isSecure: false,
    random: () => 0.5,
    lookup: (host, _options, callback) => callback(null, [{ address: host, family: 4 }]),
    resume: undefined,
    logger: { debug: log('debug'), info: log('info'), warn: log('warn') },
    ...options,
  });
  store.onState((state) => states.push(state));
  store.onChange((path) => changes.push(path));
  await settled();
  return { clock, store, streams, states, changes, logged };
}

/** Opens a session and grants it on its first connection. */
export async function connectedStage(
  servers?: string,
  options?: Partial<ZooKeeperStoreOptions>,
): Promise<Stage & { readonly stream: Stream }> {
  const opened = await stage(servers, options);
  const stream = streamAt(opened, 0);
  await stream.grant();
  return { ...opened, stream };
}

/** Returns the connection with this number. The first one has the number 0. */
export function streamAt({ streams }: Pick<Stage, 'streams'>, index: number): Stream {
  const stream = streams.at(index);
  if (stream === undefined) throw new Error(`only ${streams.length} connections`);
  return stream;
}

/** Resolves or rejects like a promise that must settle now, without another event. */
export function soon<T>(promise: Promise<T>): Promise<T> {
  const late = settled()
    .then(settled)
    .then(() => {
      throw new Error('the promise has not settled');
    });
  return Promise.race([promise, late]);
}

/** Returns the error of a call that must fail now. */
export function failureNow(call: Promise<unknown>): Promise<StoreError> {
  return failureOf(soon(call));
}
