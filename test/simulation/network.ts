/** Connects simulated processes to the servers of a simulated ensemble, through the shipped client. */
import { opcodeName } from '../../src/embedded/records.js';
import type { Operation } from '../../src/embedded/tree.js';
import type { Dial, Wire, WireEvents } from '../../src/zookeeper/index.js';
import type { Peer } from './clients.js';
import { type Ensemble, isWrite, operationsOf } from './ensemble.js';
import { type Delays, Link } from './link.js';
import type { Process } from './process.js';
import type { Server } from './server.js';
import type { World } from './world.js';

/** The network between one machine and one server, in both directions. */
export interface Way {
  readonly there: Link;
  readonly back: Link;
  /**
   * Functions that each break one open connection. Everything that is under way on the connection is lost.
   */
  readonly open: Set<() => void>;
  /** Whether new connections are refused immediately. */
  refuses: boolean;
}

/**
 * Receives every packet of every connection. Packets come without their length prefix. Each connection has
 * its own number.
 */
export interface Tap {
  opened(connection: number, machine: string): void;
  /** Called when the client sends a packet. The first packet is the handshake. */
  sent(connection: number, packet: Buffer): void;
  /** Called when a server sends a packet. The server knows of all changes up to `known`. */
  granted(connection: number, packet: Buffer, known: bigint): void;
  /** Called when a packet arrives at the client. */
  delivered(connection: number, packet: Buffer): void;
}

const frameLengthBytes = 4;
/** Length of the request number and the opcode at the start of a request. */
const headerBytes = 8;

export class Network {
  /** Called for every write of a machine, before the write is sent. */
  onWrite: (machine: string, operations: readonly Operation[]) => void = () => {};
  readonly #world: World;
  readonly #ensemble: Ensemble;
  readonly #delays: Delays;
  readonly #tap: Tap;
  readonly #ways = new Map<string, Way>();
  #connections = 0;

  constructor(world: World, ensemble: Ensemble, delays: Delays, tap: Tap) {
    this.#world = world;
    this.#tap = tap;
    this.#ensemble = ensemble;
    this.#delays = delays;
  }

  way(machine: string, server: number): Way {
    const key = `${machine} ${server}`;
    const known = this.#ways.get(key);
    if (known !== undefined) return known;
    const way = {
      there: new Link(this.#world, this.#delays),
      back: new Link(this.#world, this.#delays),
      open: new Set<() => void>(),
      refuses: false,
    };
    this.#ways.set(key, way);
    return way;
  }

  /** Returns a function that connects a process to servers. The port of a server is its index plus 1. */
  dialFrom(process: Process, machine: string): Dial {
    return ({ server: { port } }, events) => {
      const index = port - 1;
      const server = this.#ensemble.servers[index];
      if (server === undefined) throw new RangeError(`no server ${port}`);
      this.#connections += 1;
      const way = this.way(machine, index);
      const tap = this.#tap;
      const number = this.#connections;
      tap.opened(number, machine);
      const sends = (packet: Buffer) => this.#sends(machine, packet);
      const connection = new Connection({ process, server, way, events, number, tap, sends });
      connection.open();
      return connection;
    };
  }

  #sends(machine: string, packet: Buffer): void {
    const opcode = opcodeName(packet.readInt32BE(headerBytes / 2));
    if (opcode !== undefined && isWrite(opcode))
      this.onWrite(machine, operationsOf(opcode, packet.subarray(headerBytes)));
  }
}

interface ConnectionOptions {
  readonly process: Process;
  readonly server: Server;
  readonly way: Way;
  readonly events: WireEvents;
  readonly number: number;
  readonly tap: Tap;
  /** Called before a request is sent. */
  sends(packet: Buffer): void;
}

class Connection implements Wire {
  readonly #process: Process;
  readonly #server: Server;
  readonly #way: Way;
  readonly #events: WireEvents;
  readonly #peer: Peer;
  readonly #tap: Tap;
  readonly #sends: (packet: Buffer) => void;
  #hasShakenHands = false;
  #isOver = false;
  readonly #break = () => this.#reset();

  constructor({ process, server, way, events, number, tap, sends }: ConnectionOptions) {
    this.#process = process;
    this.#server = server;
    this.#way = way;
    this.#events = events;
    this.#sends = sends;
    this.#tap = tap;
    this.#peer = {
      number,
      sessionId: 0n,
      identities: [],
      waiting: [],
      isWaiting: false,
      hasFlag: false,
      send: (bytes) => {
        const packet = bytes.subarray(frameLengthBytes);
        tap.granted(number, packet, server.database.lastZxid);
        this.#toClient(() => {
          tap.delivered(number, packet);
          events.received(bytes);
        });
      },
      close: () => this.#toClient(() => events.closed()),
    };
  }

  open(): void {
    if (this.#way.refuses) {
      this.#refuse();
      return;
    }
    this.#way.open.add(this.#break);
    // The operating system closes the connections of a dead process.
    this.#process.onDeath(() => this.#hangUp());
    this.#process.call(() =>
      this.#way.there.send(() => {
        if (!this.#server.isServing) {
          this.#toClient(() => this.#events.failed('connect ECONNREFUSED', null));
          return;
        }
        this.#server.accept(this.#peer);
        this.#toClient(() => this.#events.opened());
      }),
    );
  }

  write(bytes: Buffer): void {
    const packet = bytes.subarray(frameLengthBytes);
    this.#process.call(() => {
      if (this.#isOver) return;
      this.#tap.sent(this.#peer.number, packet);
      if (this.#hasShakenHands) this.#sends(packet);
      this.#hasShakenHands = true;
      this.#way.there.send(() => this.#toServer(() => this.#server.received(this.#peer, packet)));
    });
  }

  destroy(): void {
    this.#process.call(() => this.#hangUp());
  }

  #hangUp(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#way.open.delete(this.#break);
    this.#way.there.send(() => this.#toServer(() => this.#server.gone(this.#peer)));
  }

  #refuse(): void {
    this.#isOver = true;
    this.#process.call(() =>
      this.#process.clock.timer(1, () => this.#events.failed('connect ECONNREFUSED', null)),
    );
  }

  /** Breaks the connection and notifies both ends. Everything that is under way on the connection is lost. */
  #reset(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#way.open.delete(this.#break);
    this.#server.process.deliver(() => this.#server.gone(this.#peer));
    this.#process.deliver(() => this.#events.failed('read ECONNRESET', null));
  }

  #toServer(happen: () => void): void {
    this.#server.process.deliver(happen);
  }

  #toClient(happen: () => void): void {
    this.#way.back.send(() => {
      if (this.#isOver) return;
      this.#process.deliver(() => {
        if (!this.#isOver) happen();
      });
    });
  }
}
