/** One peer, as this node probes it: what it was asked, what it answered, and what is made of that. */
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

/** An answer that comes later is none. No round trip on this planet takes as long. */
const answerWithinMs = 3_000;
/**
 * Without an answer for as long as so many probes take, of whatever reason, what was measured is worth
 * nothing.
 */
const rememberedProbes = 60;
/** A name may come to lead elsewhere, and one of several addresses may be the one that answers. */
const resolveEveryMs = 60_000;
const resolveSilentEveryMs = 5_000;

export interface PeerOptions {
  readonly node: string;
  readonly address: ProbeAddress;
  /** What this node speaks. */
  readonly transports: readonly WireName[];
  readonly intervalMs: number;
  /** Sends a question at once, or not at all: whether it did. */
  ask(wire: WireName, to: Address, peer: Tag, number: Tag): boolean;
  now(): number;
  /** Its name leads nowhere. */
  unresolved(error: unknown): void;
}

interface Way {
  known: RoundTrips;
  /** When questions that wait for an answer were sent, by their numbers. */
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

  /** Where packets for it go; null while its name is not resolved. */
  get resolved(): Address | null {
    return this.#resolved;
  }

  /**
   * Null where this node and the peer have no protocol in common, it does not answer, or was not asked for
   * long.
   */
  get roundTripMs(): number | null {
    if (this.#isForgotten(this.#options.now())) return null;
    return this.#ways.udp.known.mean?.ms ?? this.#ways.tcp.known.mean?.ms ?? null;
  }

  /** That it gets from its clients, as it said when it answered last; null where it does not know. */
  get requestsPerSecond(): number | null {
    return this.#requestsPerSecond;
  }

  /** Monotonic; -Infinity when it never did. */
  get answeredAtMs(): number {
    return this.#answeredAtMs;
  }

  /** Questions in a row that it left unanswered, by whichever protocol it answers best. */
  get missed(): number {
    return Math.min(...this.#transports.map((wire) => this.#ways[wire].known.missed));
  }

  get speaks(): boolean {
    return this.#transports.length > 0;
  }

  /** To be called while this process is steady: what was not seen has not come then. */
  ask(): void {
    const nowMs = this.#options.now();
    for (const wire of this.#transports) this.#giveUpWaiting(this.#ways[wire], nowMs);
    if (this.#ways.udp.known.missed >= mostMissed) this.#udpIsClosed = true;
    void this.#resolve(nowMs);
    for (const wire of this.#transports) if (this.#usesNow(wire)) this.#askBy(wire);
  }

  /** An answer that is proven to be this peer's. It counts once; `isSteady`: it was seen as it came. */
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
   * A node that does not run as it should asks nothing, and so misses nothing: what it measured is from
   * before that.
   */
  #isForgotten(nowMs: number): boolean {
    return nowMs - this.#answeredAtMs > rememberedProbes * this.#options.intervalMs;
  }

  /** TCP as long as UDP is not answered; UDP is asked all the time, so that it is found when it opens. */
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

  /** Not waited for: the next question goes where the answer leads. */
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
