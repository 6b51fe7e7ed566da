/** Connections from simulated processes to the servers of a simulated ensemble, for the shipped client to use. */
import type { Dial, Wire, WireEvents } from '../../src/zookeeper/index.js';
import type { Peer } from './clients.js';
import type { Ensemble } from './ensemble.js';
import { type Delays, Link } from './link.js';
import type { Process } from './process.js';
import type { Server } from './server.js';
import type { World } from './world.js';

/** The way between one machine and one server. */
export interface Way {
  readonly there: Link;
  readonly back: Link;
  /** Breaks the connections that stand, whatever is under way on them. */
  readonly open: Set<() => void>;
  /** New connections are refused at once. */
  refuses: boolean;
}

const frameLengthBytes = 4;

export class Network {
  readonly #world: World;
  readonly #ensemble: Ensemble;
  readonly #delays: Delays;
  readonly #ways = new Map<string, Way>();
  #connections = 0;

  constructor(world: World, ensemble: Ensemble, delays: Delays) {
    this.#world = world;
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

  /** Names of servers are their numbers. */
  dialFrom(process: Process, machine: string): Dial {
    return ({ server: { port } }, events) => {
      const index = port - 1;
      const server = this.#ensemble.servers[index];
      if (server === undefined) throw new RangeError(`no server ${port}`);
      this.#connections += 1;
      const connection = new Connection(process, server, this.way(machine, index), events, this.#connections);
      connection.open();
      return connection;
    };
  }
}

class Connection implements Wire {
  readonly #process: Process;
  readonly #server: Server;
  readonly #way: Way;
  readonly #events: WireEvents;
  readonly #peer: Peer;
  #isOver = false;
  readonly #break = () => this.#reset();

  constructor(process: Process, server: Server, way: Way, events: WireEvents, number: number) {
    this.#process = process;
    this.#server = server;
    this.#way = way;
    this.#events = events;
    this.#peer = {
      number,
      sessionId: 0n,
      waiting: [],
      isWaiting: false,
      hasFlag: false,
      send: (packet) => this.#toClient(() => events.received(packet)),
      close: () => this.#toClient(() => events.closed()),
    };
  }

  open(): void {
    if (this.#way.refuses) {
      this.#refuse();
      return;
    }
    this.#way.open.add(this.#break);
    // What the system does for a process that is gone.
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

  /** Both ends are told, and what is under way is lost. */
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
