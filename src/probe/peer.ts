/**
 * One peer, as seen by this node: the questions sent, the answers received, and the resulting round-trip
 * times.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { ProbeAddress } from '../model/znodes.js';
import { newNumber, type Packet, type Tag, tagOf } from './packet.js';
import {
  answeredLate,
  measured,
  mostMissed,
  noRoundTrips,
  type RoundTrips,
  unanswered,
} from './round-trips.js';
import type { Address, TransportName } from './transport.js';

/** Time limit for an answer, in milliseconds. No round trip on this planet takes that long. */
const answerWithinMs = 3_000;
/**
 * If no answer arrives during this number of probe intervals, for whatever reason, the measurements are
 * discarded.
 */
const rememberedProbes = 60;
/**
 * Intervals at which a peer's name is resolved again, in milliseconds. The second interval is for a peer that
 * does not answer. A name may get a new address. If it has several addresses, perhaps only one of them
 * answers.
 */
const resolveEveryMs = 60_000;
const resolveSilentEveryMs = 5_000;

export interface PeerOptions {
  readonly node: string;
  readonly address: ProbeAddress;
  /** Transports that this node supports. */
  readonly transports: readonly TransportName[];
  readonly intervalMs: number;
  /** Sends a question immediately or not at all. Returns whether the question was sent. */
  probe(transport: TransportName, to: Address, peer: Tag, number: Tag): boolean;
  now(): number;
  /** Called if the peer's name cannot be resolved. */
  unresolved(error: unknown): void;
}

interface Way {
  known: RoundTrips;
  /**
   * Questions that have not been answered yet. Each number is mapped to the time at which the question was
   * sent.
   */
  readonly waiting: Map<Tag, number>;
}

export class Peer {
  readonly node: string;
  readonly tag: Tag;
  readonly address: ProbeAddress;
  readonly #options: PeerOptions;
  readonly #ways: Readonly<Record<TransportName, Way>> = { udp: newWay(), tcp: newWay() };
  readonly #transports: readonly TransportName[];
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
    this.#transports = transports.filter(
      (transport) => address.protocol === 'auto' || address.protocol === transport,
    );
    if (isIP(address.host) !== 0) this.#resolved = address;
  }

  /** Address to which packets for this peer are sent. Null while the peer's name is not resolved. */
  get resolved(): Address | null {
    return this.#resolved;
  }

  /**
   * Smoothed round-trip time in milliseconds. Null if this node and the peer have no protocol in common, if
   * the peer does not answer, or if its last answer is too old.
   */
  get roundTripMs(): number | null {
    if (this.#isForgotten(this.#options.now())) return null;
    return this.#ways.udp.known.mean?.ms ?? this.#ways.tcp.known.mean?.ms ?? null;
  }

  /** Client requests per second at the peer, according to its last answer. Null if the rate is unknown. */
  get requestsPerSecond(): number | null {
    return this.#requestsPerSecond;
  }

  /** Monotonic time of the last answer. -Infinity if the peer has never answered. */
  get answeredAtMs(): number {
    return this.#answeredAtMs;
  }

  /**
   * Number of consecutive unanswered questions. If both transports are used, this is the smaller of the two
   * numbers.
   */
  get missed(): number {
    return Math.min(...this.#transports.map((transport) => this.#ways[transport].known.missed));
  }

  get speaks(): boolean {
    return this.#transports.length > 0;
  }

  /**
   * Sends the next questions. Must be called only while this process is running steadily. Otherwise, an
   * answer that seems to be missing may have arrived but may not have been read yet.
   */
  probe(): void {
    const nowMs = this.#options.now();
    for (const transport of this.#transports) this.#giveUpWaiting(this.#ways[transport], nowMs);
    if (this.#ways.udp.known.missed >= mostMissed) this.#udpIsClosed = true;
    void this.#resolve(nowMs);
    for (const transport of this.#transports) if (this.#usesNow(transport)) this.#askBy(transport);
  }

  /**
   * Records an answer that is proven to be from this peer. Each answer counts once. `isSteady` is true if the
   * answer was seen as soon as it arrived.
   */
  answered(packet: Packet, transport: TransportName, isSteady: boolean, atMs: number): void {
    const way = this.#ways[transport];
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
   * Whether the last answer is too old for the measurements to count. A process that is not running steadily
   * sends no questions, so it does not notice missing answers. Its measurements must still become outdated.
   */
  #isForgotten(nowMs: number): boolean {
    return nowMs - this.#answeredAtMs > rememberedProbes * this.#options.intervalMs;
  }

  /**
   * Whether to use a transport now. TCP is used only while the peer does not answer over UDP. UDP is always
   * probed, so that the node can detect when UDP works again.
   */
  #usesNow(transport: TransportName): boolean {
    return transport === 'udp' || !this.#transports.includes('udp') || this.#udpIsClosed;
  }

  #askBy(transport: TransportName): void {
    const way = this.#ways[transport];
    const number = newNumber();
    if (this.#resolved === null) {
      way.known = unanswered(way.known);
      return;
    }
    const sentAtMs = this.#options.now();
    if (this.#options.probe(transport, this.#resolved, this.tag, number)) way.waiting.set(number, sentAtMs);
    else way.known = unanswered(way.known);
  }

  #giveUpWaiting(way: Way, nowMs: number): void {
    for (const [number, sentAtMs] of way.waiting) {
      if (nowMs - sentAtMs <= answerWithinMs) continue;
      way.waiting.delete(number);
      way.known = unanswered(way.known);
    }
  }

  /** Resolves the peer's name. Callers do not wait for the result. Later questions use it. */
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
