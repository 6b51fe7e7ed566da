/**
 * Measures the round-trip times between this node and its peers, and exchanges request rates with them. The
 * method follows the heartbeats in Becker, Junqueira and Serafini, *Leader Election for Replicated Services
 * Using Application Scores* (2011).
 *
 * Promised: a round trip is measured with this node's clock alone. A packet that arrived while either process
 * was not running measures nothing (see `stall-detector.ts`). Answers are sent only to the registered address
 * of the peer that asked, or back over the connection on which the question arrived. A packet from a stranger
 * changes nothing, and no packet makes the prober throw.
 *
 * Not promised: that strangers are recognized if the group has no secret.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { groupPaths } from '../model/paths.js';
import type { ProbeAddress, ProbeProtocol } from '../model/znodes.js';
import type { Clock } from '../ports/clock.js';
import type { Store } from '../ports/store.js';
import { Directory } from './directory.js';
import { type Endpoint, endpointText } from './endpoint.js';
import { LogThrottle } from './log-throttle.js';
import { type Packet, PacketCoder, type Tag, tagOf } from './packet.js';
import { Peer } from './peer.js';
import { mostMissed } from './round-trips.js';
import { StallDetector } from './stall-detector.js';
import type { Address, TransportName } from './transport.js';
import { openTransports, type Transports } from './transports.js';

export interface ProbeSettings {
  readonly listen: Endpoint;
  /**
   * Address that other nodes use to reach this node. Null if it is the address on which this node listens.
   */
  readonly address: { readonly host: string; readonly port: number | null } | null;
  readonly protocol: ProbeProtocol;
  readonly intervalMs: number;
  /** Secret that all nodes of the group share. Null if any process may send probes. */
  readonly secret: string | null;
}

export interface ProberOptions extends ProbeSettings {
  readonly node: string;
  readonly root: string;
  /** Host name at which other nodes reach this node if it listens on all addresses of its machine. */
  readonly hostName: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface SlotsInput {
  /** Returns the agent's session, for reading registrations. Null if there is none. */
  session(): Store | null;
  /** Returns the client requests per second at this node, or null if the rate is unknown. */
  requestsPerSecond(): number | null;
}

interface Probed {
  readonly peer: Peer;
  stop(): void;
}

/** Number of consecutive unanswered probes after which a warning is logged. */
const reportedMisses = 30;

export class Prober {
  /** Address at which this node answers probes. The node publishes it in its registration. */
  readonly address: ProbeAddress;
  readonly #options: ProberOptions;
  readonly #transports: Transports;
  readonly #throttle: LogThrottle;
  readonly #coder: PacketCoder;
  readonly #stallDetector: StallDetector;
  readonly #peers = new Map<Tag, Probed>();
  #surroundings: SlotsInput | null = null;
  #directory: Directory | null = null;

  private constructor(options: ProberOptions, transports: Transports, throttle: LogThrottle) {
    this.#options = options;
    this.#transports = transports;
    this.#throttle = throttle;
    this.#coder = new PacketCoder(options);
    this.#stallDetector = new StallDetector(options.clock);
    this.address = addressOf(options, transports.port);
  }

  /**
   * Starts listening. Nothing is measured before `begin`. Throws PetrelError INVALID if the node cannot
   * listen.
   */
  static async open(options: ProberOptions): Promise<Prober> {
    const { listen, protocol, log } = options;
    const throttle = new LogThrottle(log);
    let prober: Prober | null = null;
    const transports = await openTransports(listen, protocol, {
      onPacket: (bytes, transport, reply) => (prober === null ? null : prober.#take(bytes, transport, reply)),
      onSendError: (to, error) => throttle.sendFailed(to, error),
    });
    prober = new Prober(options, transports, throttle);
    const at = endpointText({ host: listen.host, port: transports.port });
    log.info(
      { probe: prober.address },
      `listening for probes on ${at}; other nodes reach this node at ${endpointText(prober.address)}`,
    );
    return prober;
  }

  /** Finds peers and measures round-trip times until `close`. */
  begin(surroundings: SlotsInput): void {
    const { clock, node, root } = this.#options;
    this.#surroundings = surroundings;
    this.#directory ??= new Directory({
      paths: groupPaths(root),
      node,
      clock,
      session: () => surroundings.session(),
      answers: (name) => this.#answers(name),
      found: (addresses) => this.#meet(addresses),
      failed: (error) => this.#options.log.debug({ error }, 'cannot read the list of peers'),
    });
  }

  /** Returns smoothed round-trip times in milliseconds, keyed by node id, for the peers that answer. */
  roundTrips(): ReadonlyMap<string, number> {
    const measured = [...this.#peers.values()].flatMap(
      ({ peer: { node, roundTripMs } }): [string, number][] =>
        roundTripMs === null ? [] : [[node, Math.round(roundTripMs * 100) / 100]],
    );
    return new Map(measured.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /**
   * Returns client requests per second, keyed by node id, for the peers that know their rate and have
   * reported it recently.
   */
  heardRates(): ReadonlyMap<string, number> {
    const { clock, intervalMs } = this.#options;
    const sinceMs = clock.monotonicMs() - mostMissed * intervalMs;
    const rates = [...this.#peers.values()].flatMap(
      ({ peer: { node, answeredAtMs, requestsPerSecond } }): [string, number][] =>
        requestsPerSecond === null || answeredAtMs < sinceMs ? [] : [[node, requestsPerSecond]],
    );
    return new Map(rates);
  }

  /** The endpoint on which this node listens. Other nodes may use a different address. */
  get listensAt(): Endpoint {
    return { host: this.#options.listen.host, port: this.#transports.port };
  }

  /** Closes all sockets and stops all timers. Never rejects. May be called at any time. */
  async close(): Promise<void> {
    this.#directory?.close();
    this.#stallDetector.close();
    for (const probed of this.#peers.values()) probed.stop();
    this.#peers.clear();
    await this.#transports.close();
  }

  #answers(node: string): { now: boolean; lastAtMs: number } {
    const peer = this.#peers.get(tagOf(node))?.peer;
    if (peer === undefined) return { now: false, lastAtMs: Number.NEGATIVE_INFINITY };
    return { now: peer.roundTripMs !== null, lastAtMs: peer.answeredAtMs };
  }

  /** Updates the peers to match these addresses. Peers whose address has not changed are kept. */
  #meet(addresses: ReadonlyMap<string, ProbeAddress | null>): void {
    for (const [tag, { peer, stop }] of this.#peers) {
      if (isDeepStrictEqual(addresses.get(peer.node), peer.address)) continue;
      stop();
      this.#peers.delete(tag);
    }
    for (const [node, address] of addresses) {
      if (address !== null && !this.#peers.has(tagOf(node))) this.#addPeer(node, address);
    }
  }

  /**
   * Starts probing a peer. The first probe is sent after a random delay, so that a node does not probe many
   * peers at the same time.
   */
  #addPeer(node: string, address: ProbeAddress): void {
    const { clock, intervalMs } = this.#options;
    const peer = new Peer({
      node,
      address,
      transports: [...this.#transports.byName.keys()],
      intervalMs,
      probe: (transport, to, tag, number) => this.#probe(transport, to, tag, number),
      now: () => clock.monotonicMs(),
      unresolved: (error) => this.#throttle.sendFailed(address, error),
    });
    const next = (inMs: number) =>
      clock.timer(inMs, () => {
        cancel = next(intervalMs);
        if (!this.#stallDetector.isSteady) return;
        peer.probe();
        this.#reportSilence(peer);
      });
    let cancel = next(Math.random() * intervalMs);
    this.#peers.set(peer.tag, { peer, stop: () => cancel() });
    if (!peer.speaks) {
      const { protocol } = this.#options;
      this.#throttle.once(
        node,
        `${node} is not probed: it supports only ${address.protocol}, and this node uses ${protocol}`,
      );
    }
  }

  #probe(transport: TransportName, to: Address, tag: Tag, number: Tag): boolean {
    const question = this.#coder.write('question', tag, number, null);
    return this.#transports.byName.get(transport)?.send(to, question) ?? false;
  }

  /**
   * Handles a packet and returns its sender. Returns null for a packet from a stranger, and does not answer
   * it.
   */
  #take(bytes: Buffer, transport: TransportName, reply: ((bytes: Buffer) => void) | null): Tag | null {
    const atMs = this.#options.clock.monotonicMs();
    const packet = this.#coder.read(bytes);
    const peer = packet === null ? undefined : this.#peers.get(packet.from)?.peer;
    if (packet === null || peer === undefined) return null;
    if (!this.#coder.isGenuine(bytes)) {
      const text = `probes that claim to be from ${peer.node} use a different secret: set the same probe.secret on all nodes`;
      this.#throttle.once(peer.node, text);
      return null;
    }
    if (packet.kind === 'question') this.#answer(peer, packet, transport, reply);
    else this.#answered(peer, packet, transport, atMs);
    return peer.tag;
  }

  #answer(
    peer: Peer,
    { number }: Packet,
    transport: TransportName,
    reply: ((bytes: Buffer) => void) | null,
  ): void {
    const rate = this.#surroundings?.requestsPerSecond() ?? null;
    const answer = this.#coder.write(
      this.#stallDetector.isSteady ? 'answer' : 'late',
      peer.tag,
      number,
      rate,
    );
    if (reply !== null) reply(answer);
    else if (peer.resolved !== null) this.#transports.byName.get(transport)?.send(peer.resolved, answer);
  }

  #answered(peer: Peer, packet: Packet, transport: TransportName, atMs: number): void {
    const wasSilent = peer.missed >= reportedMisses;
    peer.answered(packet, transport, this.#stallDetector.isSteady, atMs);
    if (peer.missed >= reportedMisses || !wasSilent) return;
    this.#throttle.reset(peer.node);
    if (peer.resolved !== null) this.#throttle.reset(endpointText(peer.resolved));
    this.#options.log.info(`${peer.node} answers probes again`);
  }

  #reportSilence(peer: Peer): void {
    if (!peer.speaks || peer.missed < reportedMisses) return;
    const { protocol } = peer.address;
    const right = `check that firewalls allow ${protocol === 'auto' ? 'UDP or TCP' : protocol.toUpperCase()} and that both nodes have the same probe.secret`;
    this.#throttle.once(
      peer.node,
      `${peer.node} does not answer probes at ${endpointText(peer.address)}: ${right}`,
    );
  }
}

function addressOf({ listen, address, protocol, hostName }: ProberOptions, port: number): ProbeAddress {
  const isAny = listen.host === '0.0.0.0' || listen.host === '::';
  return {
    host: address?.host ?? (isAny ? hostName : listen.host),
    port: address?.port ?? port,
    protocol,
  };
}
