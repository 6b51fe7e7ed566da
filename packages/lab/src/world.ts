/**
 * The simulated world: nodes on a network. Nodes begin, crash and return, and other nodes may believe that
 * they are dead.
 */

import { Census } from './census.js';
import type { Conditions } from './conditions.js';
import { Events, ticks } from './events.js';
import { Network, plainSize } from './network.js';
import type { Context, Node, Protocol, Timer } from './protocol.js';
import { type Random, randomFrom } from './random.js';
import { Ring } from './ring.js';

/** The place of a node. The node's incarnations occupy it one after another. */
interface Seat<Message> {
  node: Node<Message> | null;
  incarnation: number;
  /** Length of the longest causal chain of messages that ends at this node. */
  depth: number;
  readonly suspects: Set<number>;
}

export class World<Message> {
  readonly conditions: Conditions;
  readonly events = new Events();
  readonly census: Census;
  readonly network: Network<Message>;
  readonly random: Random;
  readonly #protocol: Protocol<Message>;
  readonly #seed: number;
  readonly #ring: Ring;
  readonly #seats: Seat<Message>[];
  #counts = new Map<string, number>();
  /** The nodes on the smaller side while the network is separated. The server is on the other side. */
  #minority: ReadonlySet<number> | null = null;
  /** Whether the simulation has called a node whose code may not have finished yet. */
  #mayContinue = false;

  constructor(protocol: Protocol<Message>, conditions: Conditions, seed: number) {
    const { nodes } = conditions;
    const random = randomFrom(seed);
    this.conditions = conditions;
    this.random = random;
    this.#seed = seed;
    this.#protocol = protocol;
    this.#ring = new Ring(conditions, random);
    this.census = new Census(nodes);
    this.#seats = Array.from({ length: nodes + 1 }, () => ({
      node: null,
      incarnation: -1,
      depth: 0,
      suspects: new Set(),
    }));
    this.network = new Network<Message>({
      events: this.events,
      random,
      conditions,
      isReliable: protocol.isReliable,
      sizeOf: (message) => protocol.size?.(message) ?? plainSize(message),
      deliver: (to, from, message, depth) => this.#deliver(to, from, message, depth),
    });
    if (protocol.server !== undefined) this.#begin(nodes, (context) => protocol.server?.(context) ?? null);
  }

  get server(): number {
    return this.conditions.nodes;
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** Length of the longest causal chain of messages so far. */
  get depth(): number {
    return this.#seats.reduce((most, { depth }) => Math.max(most, depth), 0);
  }

  /**
   * Runs the next event. Resolves when the nodes have finished everything that the event causes at this
   * instant. Returns null if they have finished already.
   */
  step(): Promise<void> | null {
    this.events.step();
    return this.rest();
  }

  /**
   * Resolves when the nodes have finished everything that they do at this instant. Returns null if they have
   * finished already.
   */
  rest(): Promise<void> | null {
    if (!this.#mayContinue) return null;
    this.#mayContinue = false;
    return new Promise((resolve) => {
      setImmediate(resolve);
    });
  }

  /** Runs all events up to an instant, and advances the time to it. */
  async runTo(at: number): Promise<void> {
    while (this.events.nextAt <= at) {
      const rest = this.step();
      if (rest !== null) await rest;
    }
    this.events.runTo(at);
  }

  /** Resets the measures. */
  forget(): void {
    this.#counts = new Map();
    this.network.forget();
    for (const seat of this.#seats) seat.depth = 0;
  }

  /** Makes all nodes consider a node dead until that node begins. */
  expectLate(id: number): void {
    for (const seat of this.#seats) seat.suspects.add(id);
  }

  /** Starts a node. All nodes learn that the node is alive, but not that it may have been away. */
  begin(id: number, initiates: boolean): void {
    for (const seat of this.#seats) seat.suspects.delete(id);
    this.census.enter(id, this.events.now);
    this.#calls(id);
    this.#begin(id, (context) => this.#protocol.node(context))?.start(initiates);
  }

  /** Ends a node. If `isPolite` is true, the node may announce its departure first. */
  end(id: number, isPolite: boolean): void {
    const seat = this.#seat(id);
    this.#calls(id);
    if (isPolite) seat.node?.leave?.();
    this.census.leave(id, this.events.now);
    seat.node = null;
    seat.suspects.clear();
    this.#planDetection(id, seat.incarnation);
  }

  /** Makes `node` believe that `dead` is dead. */
  suspect(node: number, dead: number, incarnation: number): void {
    const seat = this.#seat(node);
    if (seat.node === null || node === dead) return;
    seat.suspects.add(dead);
    seat.node.suspect?.(dead, incarnation);
  }

  /** Reports to `node` that `dead` is alive, if it is. */
  trust(node: number, dead: number): void {
    const seat = this.#seat(node);
    if (seat.node === null || !(dead === this.server || this.census.isLive(dead))) return;
    seat.suspects.delete(dead);
    seat.node.restored?.(dead);
  }

  /**
   * Separates a minority from all other nodes. After the detection time, each side believes that the other
   * side is dead.
   */
  separate(minority: ReadonlySet<number>): void {
    this.#minority = minority;
    const { detector } = this.#protocol;
    if (detector === 'none') return;
    this.events.plan(this.events.now + ticks(this.conditions.detectMs), 'timer', () => {
      if (this.#minority === minority)
        this.#eachPair((node, other) => {
          this.suspect(node, other, this.incarnationOf(other));
        });
    });
  }

  /** Ends the separation, and counts the leaders on each side. */
  reunite(): void {
    const minority = this.#minority ?? new Set();
    for (let id = 0; id < this.conditions.nodes; id += 1) {
      const leads = this.census.isLive(id) && this.census.leaderOf(id) === id ? 1 : 0;
      const side = minority.has(id) ? 'leaders of the minority' : 'leaders of the majority';
      this.#counts.set(side, (this.#counts.get(side) ?? 0) + leads);
    }
    if (this.#protocol.detector !== 'none') this.#eachPair((node, other) => this.trust(node, other));
    this.#minority = null;
  }

  /** Calls `act` for each ordered pair of nodes in which the first cannot reach the second. */
  #eachPair(act: (node: number, other: number) => void): void {
    const isServed = this.#protocol.detector === 'server';
    const all = Array.from(this.#seats.keys());
    for (const node of all) {
      for (const other of all) {
        const isPair = isServed
          ? node === this.server || other === this.server
          : Math.max(node, other) < this.server;
        if (isPair && this.#isApart(node, other)) act(node, other);
      }
    }
  }

  #isApart(one: number, other: number): boolean {
    return this.#minority !== null && this.#minority.has(one) !== this.#minority.has(other);
  }

  incarnationOf(id: number): number {
    return this.#seat(id).incarnation;
  }

  contextOf(id: number, incarnation: number): Context<Message> {
    const { conditions, events, census, network, random } = this;
    const seat = this.#seat(id);
    const isOver = () => seat.incarnation !== incarnation;
    return {
      id,
      n: conditions.nodes,
      conditions,
      random: () => random.next(),
      nowMs: () => events.nowMs,
      incarnation,
      send: (to, message, count = 1) =>
        network.send(to, id, message, count === 0 ? 0 : seat.depth + 1, count),
      sendAll: (message) => network.sendAll(id, message, seat.depth + 1),
      multicast: (message) => network.multicast(id, message, seat.depth + 1),
      successor: () => this.#ring.neighbour(id, 1, (other) => seat.suspects.has(other)),
      predecessor: () => this.#ring.neighbour(id, -1, (other) => seat.suspects.has(other)),
      isSuspected: (other) => seat.suspects.has(other),
      doubt: (other) => seat.suspects.add(other),
      seed: this.#seed,
      timer: (fire) =>
        timer(events, () => {
          if (isOver() || seat.node === null) return;
          this.#calls(id);
          fire();
        }),
      follow: (leader) => census.follow(id, leader, events.now),
      leader: () => census.leaderOf(id),
      count: (what, by = 1) => this.#counts.set(what, (this.#counts.get(what) ?? 0) + by),
    };
  }

  #seat(id: number): Seat<Message> {
    const seat = this.#seats[id];
    if (seat === undefined) throw new RangeError(`there is no node ${id}`);
    return seat;
  }

  #begin(id: number, make: (context: Context<Message>) => Node<Message> | null): Node<Message> | null {
    const seat = this.#seat(id);
    seat.incarnation += 1;
    seat.node = make(this.contextOf(id, seat.incarnation));
    return seat.node;
  }

  #deliver(to: number, from: number, message: Message, depth: number): boolean {
    const seat = this.#seat(to);
    if (seat.node === null || this.#isApart(to, from)) return false;
    if (depth > seat.depth) seat.depth = depth;
    this.#calls(to);
    // A node that sends a message cannot be dead.
    if (seat.suspects.size > 0 && this.census.isLive(from)) seat.suspects.delete(from);
    seat.node.receive(message, from);
    return true;
  }

  #calls(id: number): void {
    if (this.#protocol.isAsync === true && id !== this.server) this.#mayContinue = true;
  }

  #planDetection(dead: number, incarnation: number): void {
    const { detectMs, nodes, noticedBy, missed } = this.conditions;
    const { detector } = this.#protocol;
    if (detector === 'none') return;
    this.events.plan(this.events.now + ticks(detectMs), 'timer', () => {
      if (detector === 'server') {
        this.suspect(this.server, dead, incarnation);
        return;
      }
      if (this.census.isLive(dead)) return;
      const live = Array.from({ length: nodes }, (_, id) => id).filter((id) => this.census.isLive(id));
      const noticing = { all: live, lowest: live.slice(0, 1), highest: live.slice(-1) }[noticedBy];
      for (const id of noticing) {
        if (missed === 0 || this.random.next() >= missed) this.suspect(id, dead, incarnation);
      }
    });
  }
}

/** Creates a timer that has only one entry in the queue, however often the timer is postponed. */
function timer(events: Events, fire: () => void): Timer {
  let dueAt = Number.POSITIVE_INFINITY;
  let plannedAt = Number.POSITIVE_INFINITY;
  const plan = (at: number) => {
    plannedAt = at;
    events.plan(at, 'timer', () => look(at));
  };
  const look = (at: number) => {
    if (plannedAt !== at) return;
    plannedAt = Number.POSITIVE_INFINITY;
    if (dueAt > at) {
      if (dueAt !== Number.POSITIVE_INFINITY) plan(dueAt);
      return;
    }
    dueAt = Number.POSITIVE_INFINITY;
    fire();
  };
  return {
    set: (ms) => {
      dueAt = events.now + ticks(ms);
      if (dueAt < plannedAt) plan(dueAt);
    },
    stop: () => {
      dueAt = Number.POSITIVE_INFINITY;
    },
  };
}
