/**
 * Measures the capacity of three servers of a real ZooKeeper on this machine. The servers have no other load.
 * Each connection keeps a fixed number of requests outstanding.
 */
import { connect as dial, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { JuteWriter } from '../../src/embedded/jute.js';
import { opcodes, writeMultiHeader } from '../../src/embedded/records.js';
import type { Store } from '../../src/ports/store.js';
import { FrameReader } from '../../src/zookeeper/frames.js';
import { monotonicMs } from '../clocks.js';
import { ZooKeeper } from '../servers.js';

export interface Capacity {
  /** Operations per second, on all servers together. */
  readonly renewals: number;
  readonly changes: number;
  readonly reads: number;
  /** Lists per second. Each list has `listed` names. */
  readonly lists: number;
  readonly sessions: number;
  /** Bytes per second of the responses that contain these lists. */
  readonly listBytes: number;
}

export const listed = 1_000;
export const contentBytes = 300;
const connectionsToEach = 4;
const onTheirWay = 32;
const warmUpMs = 1_500;
const sessionTimeoutMs = 30_000;
const sessionsAtOnce = 25;

const base = '/growth';
const paths = { content: `${base}/content`, other: `${base}/other`, list: `${base}/list` };

/** Measures all rates. It takes about five times `eachMs`. */
export async function measureCapacity(eachMs: number): Promise<Capacity> {
  await using zookeeper = await ZooKeeper.start(3);
  await fill(zookeeper.store);
  const addresses = zookeeper.connect.split(',');
  const rate = async (frame: Buffer) => await rateOf(addresses, frame, eachMs);
  const reads = await rate(request('getData', (body) => body.string(paths.content).bool(false)));
  const lists = await rate(request('getChildren2', (body) => body.string(paths.list).bool(false)));
  const changes = await rate(
    request('setData', (body) => body.string(paths.other).buffer(Buffer.alloc(contentBytes)).int(-1)),
  );
  const renewals = await rate(request('multi', renewal));
  const sessions = await sessionsOf(addresses, eachMs);
  return {
    renewals: renewals.answers,
    changes: changes.answers,
    reads: reads.answers,
    lists: lists.answers,
    listBytes: lists.bytes,
    sessions,
  };
}

async function fill(store: Store): Promise<void> {
  const none = Buffer.alloc(0);
  await store.create(base, none, 'persistent');
  await store.create(paths.list, none, 'persistent');
  for (const path of [paths.content, paths.other])
    await store.create(path, Buffer.alloc(contentBytes), 'persistent');
  const names = Array.from({ length: listed }, (_, index) => `node-00000-${String(index).padStart(10, '0')}`);
  await Promise.all(names.map((name) => store.create(`${paths.list}/${name}`, none, 'persistent')));
}

/** Writes a request like a leader's lease renewal, which consists of two checks. */
function renewal(body: JuteWriter): JuteWriter {
  for (const path of [paths.content, paths.other]) {
    writeMultiHeader(body, { type: opcodes.check, done: false, error: -1 });
    body.string(path).int(-1);
  }
  return writeMultiHeader(body, { type: -1, done: true, error: -1 });
}

function request(opcode: keyof typeof opcodes, write: (body: JuteWriter) => JuteWriter): Buffer {
  return write(new JuteWriter().int(1).int(opcodes[opcode])).packet();
}

interface Rate {
  readonly answers: number;
  readonly bytes: number;
}

async function rateOf(addresses: readonly string[], frame: Buffer, forMs: number): Promise<Rate> {
  const each = Array.from({ length: connectionsToEach }, () => addresses).flat();
  const pollers = await Promise.all(each.map((address) => Poller.open(address)));
  try {
    for (const poller of pollers) poller.begin(frame);
    await sleep(warmUpMs);
    const count = () => ({
      answers: pollers.reduce((sum, poller) => sum + poller.answers, 0),
      bytes: pollers.reduce((sum, poller) => sum + poller.bytes, 0),
    });
    const [before, beganAtMs] = [count(), monotonicMs()];
    await sleep(forMs);
    const [after, seconds] = [count(), (monotonicMs() - beganAtMs) / 1000];
    return {
      answers: (after.answers - before.answers) / seconds,
      bytes: (after.bytes - before.bytes) / seconds,
    };
  } finally {
    for (const poller of pollers) poller.close();
  }
}

/**
 * Opens and closes sessions, one after the other, on several connections at the same time. Returns the number
 * of sessions per second.
 */
async function sessionsOf(addresses: readonly string[], forMs: number): Promise<number> {
  const beganAtMs = monotonicMs();
  let opened = 0;
  const open = async (place: number) => {
    while (monotonicMs() - beganAtMs < forMs) {
      const poller = await Poller.open(addresses[place % addresses.length] ?? '');
      poller.close();
      opened += 1;
    }
  };
  await Promise.all(Array.from({ length: sessionsAtOnce }, (_, place) => open(place)));
  return (opened / (monotonicMs() - beganAtMs)) * 1000;
}

/** One connection with its own session. It uses the bare protocol. */
class Poller {
  answers = 0;
  bytes = 0;
  readonly #socket: Socket;
  #batch: Buffer = Buffer.alloc(0);
  #frameBytes = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static open(address: string): Promise<Poller> {
    const [host = '', port] = address.split(':');
    const socket = dial({ host, port: Number(port), noDelay: true });
    const poller = new Poller(socket);
    return new Promise((resolve, reject) => {
      const reader = new FrameReader();
      let isGranted = false;
      socket.on('error', reject);
      socket.on('close', () => reject(new Error(`${address} hung up`)));
      socket.on('data', (chunk: Buffer) => {
        let frames = reader.push(chunk).length;
        if (frames > 0 && !isGranted) {
          isGranted = true;
          frames -= 1;
          resolve(poller);
        }
        poller.bytes += chunk.length;
        if (frames > 0) poller.#answered(frames);
      });
      socket.write(handshake);
    });
  }

  begin(frame: Buffer): void {
    this.#frameBytes = frame.length;
    this.#batch = Buffer.concat(Array.from({ length: onTheirWay }, () => frame));
    this.#socket.write(this.#batch);
  }

  close(): void {
    this.#socket.destroy();
  }

  #answered(count: number): void {
    this.answers += count;
    this.#socket.write(this.#batch.subarray(0, count * this.#frameBytes));
  }
}

const handshake = new JuteWriter()
  .int(0)
  .long(0n)
  .int(sessionTimeoutMs)
  .long(0n)
  .buffer(Buffer.alloc(16))
  .bool(false)
  .packet();
