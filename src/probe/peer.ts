/**
 * One peer, as this node probes it: the questions sent, the answers received, and the resulting round trips.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import {
  answeredLate,
  measured,
  mostMissed,
  noRoundTrips,
  type RoundTrips,
  unanswered,
} from '../core/round-trips.js';
import type { ProbeAddress } from '../model/znodes.js';
import { newNumber, type Packet, type Tag, tagOf } from './packet.js';
import type { Address, WireName } from './wire.js';

/** A later answer does not count. No round trip on this planet takes as long. */
const answerWithinMs = 3_000;
/**
 * Measurements are discarded if no answer comes for the duration of this many probes, for whatever reason.
 */
const rememberedProbes = 60;
/** A name may resolve to a new address, and of several addresses perhaps only one answers. */
const resolveEveryMs = 60_000;
const resolveSilentEveryMs = 5_000;

export interface PeerOptions {
  readonly node: string;
  readonly address: ProbeAddress;
  /** Transports of this node. */
  readonly transports: readonly WireName[];
  readonly intervalMs: number;
  /** Sends a question immediately or not at all. Returns whether it was sent. */
  ask(wire: WireName, to: Address, peer: Tag, number: Tag): boolean;
  now(): number;
  /** Called if the peer's name cannot be resolved. */
  unresolved(error: unknown): void;
}

interface Way {
  known: RoundTrips;
  /** When the questions that are waiting for an answer were sent, by number. */
  readonly waiting: Map<Tag, number>;
}

export class Peer {
  readonly node: string;
  readonly tag: Tag;
  readonly address: ProbeAddress;
  readonly #options: PeerOptions;
  readonly #ways: Readonly<Record<WireName, Way>> = { udp: newWay(), tcp: newWay() };
  readonly #transports: readonly WireName[];
  #resolved: Address | null = null;
  #resolvedAtMs = Number.NEGATIVE_INFINITY;
  #tries = 0;
  #udpIsClosed = false;
  #requestsPerSecond: number | null = null;
  #answeredAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: PeerOptions) {
    const { node, address, transports } = options;
    this.node = node;
    this.tag = tagOf(node);
    this.address = address;
    this.#options = options;
    this.#transports = transports.filter((wire) => address.protocol === 'auto' || address.protocol === wire);
    if (isIP(address.host) !== 0) this.#resolved = address;
  }

  /** Where to send its packets. Null while its name is not resolved. */
  get resolved(): Address | null {
    return this.#resolved;
  }

  /**
   * Null if this node and the peer have no protocol in common, if it does not answer, or if it was not probed
   * for long.
   */
  get roundTripMs(): number | null {
    if (this.#isForgotten(this.#options.now())) return null;
    return this.#ways.udp.known.mean?.ms ?? this.#ways.tcp.known.mean?.ms ?? null;
  }

  /** Requests per second that it gets from its clients, from its last answer. Null if it does not know. */
  get requestsPerSecond(): number | null {
    return this.#requestsPerSecond;
  }

  /** Monotonic. -Infinity if it has never answered. */
  get answeredAtMs(): number {
    return this.#answeredAtMs;
  }

  /** Successive questions without an answer, by the protocol with the fewest. */
  get missed(): number {
    return Math.min(...this.#transports.map((wire) => this.#ways[wire].known.missed));
  }

  get speaks(): boolean {
    return this.#transports.length > 0;
  }

  /** Call this only while the process is steady: an answer that has not been seen then has not arrived. */
  ask(): void {
    const nowMs = this.#options.now();
    for (const wire of this.#transports) this.#giveUpWaiting(this.#ways[wire], nowMs);
    if (this.#ways.udp.known.missed >= mostMissed) this.#udpIsClosed = true;
    void this.#resolve(nowMs);
    for (const wire of this.#transports) if (this.#usesNow(wire)) this.#askBy(wire);
  }

  /**
   * Records an answer that is proven to be this peer's. It counts once. `isSteady`: it was seen when it
   * arrived.
   */
  answered(packet: Packet, wire: WireName, isSteady: boolean, atMs: number): void {
    const way = this.#ways[wire];
    const sentAtMs = way.waiting.get(packet.number);
    if (sentAtMs === undefined) return;
    way.waiting.delete(packet.number);
    if (this.#isForgotten(atMs)) for (const one of Object.values(this.#ways)) one.known = noRoundTrips;
    this.#requestsPerSecond = packet.requestsPerSecond;
    this.#answeredAtMs = atMs;
    const counts = isSteady && packet.kind === 'answer' && atMs - sentAtMs <= answerWithinMs;
    way.known = counts ? measured(way.known, atMs - sentAtMs) : answeredLate(way.known);
    if (this.#ways.udp.known.mean === null) return;
    this.#udpIsClosed = false;
    this.#ways.tcp.known = noRoundTrips;
  }

  /**
   * A node that does not run steadily sends no questions and so misses no answers. Its measurements are from
   * before that.
   */
  #isForgotten(nowMs: number): boolean {
    return nowMs - this.#answeredAtMs > rememberedProbes * this.#options.intervalMs;
  }

  /** TCP is used while UDP is not answered. UDP is always probed, so that it is found once it works. */
  #usesNow(wire: WireName): boolean {
    return wire === 'udp' || !this.#transports.includes('udp') || this.#udpIsClosed;
  }

  #askBy(wire: WireName): void {
    const way = this.#ways[wire];
    const number = newNumber();
    if (this.#resolved === null) {
      way.known = unanswered(way.known);
      return;
    }
    const sentAtMs = this.#options.now();
    if (this.#options.ask(wire, this.#resolved, this.tag, number)) way.waiting.set(number, sentAtMs);
    else way.known = unanswered(way.known);
  }

  #giveUpWaiting(way: Way, nowMs: number): void {
    for (const [number, sentAtMs] of way.waiting) {
      if (nowMs - sentAtMs <= answerWithinMs) continue;
      way.waiting.delete(number);
      way.known = unanswered(way.known);
    }
  }

  /** Not awaited: the next question uses the result. */
  async #resolve(nowMs: number): Promise<void> {
    const { host, port } = this.address;
    const isSilent = this.missed >= mostMissed;
    const dueAtMs = this.#resolvedAtMs + (isSilent ? resolveSilentEveryMs : resolveEveryMs);
    if (isIP(host) !== 0 || nowMs < dueAtMs) return;
    this.#resolvedAtMs = nowMs;
    if (isSilent) this.#tries += 1;
    try {
      const addresses = await lookup(host, { all: true });
      const found = addresses[this.#tries % addresses.length];
      if (found !== undefined) this.#resolved = { host: found.address, port };
    } catch (error) {
      this.#options.unresolved(error);
    }
  }
}

function newWay(): Way {
  return { known: noRoundTrips, waiting: new Map() };
}
