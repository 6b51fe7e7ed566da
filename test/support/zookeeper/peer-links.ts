/**
 * The network between the servers of one ensemble. Each link is a proxy, so that servers can be cut off from
 * one another while their clients stay connected. Each server reaches the others through its own links.
 */
import { type Direction, startProxy, type TcpProxy } from '../proxy.js';
import type { PeerNetwork } from './server-ensemble.js';

/**
 * A server retries if its peer does not listen yet, but not if its connection was accepted and then reset. So
 * a proxy accepts no connection before the peer behind it listens.
 */
const learnerPatienceMs = 1_000;

/** Ports on 127.0.0.1 on which a server itself listens for its peers. */
export interface PeerPorts {
  readonly quorum: number;
  readonly election: number;
}

interface Link {
  readonly from: number;
  readonly to: number;
  readonly quorum: TcpProxy;
  readonly election: TcpProxy;
}

/**
 * The traffic that is lost between one server and the others: all, only what the server sends, or only what
 * it receives.
 */
export type Loss = 'all' | 'outbound' | 'inbound';

const opposite = { toServer: 'toClient', toClient: 'toServer' } as const;

export class PeerLinks implements PeerNetwork {
  readonly #peers: readonly PeerPorts[];
  readonly #links: Link[] = [];

  private constructor(peers: readonly PeerPorts[]) {
    this.#peers = peers;
  }

  static async start(peers: readonly PeerPorts[]): Promise<PeerLinks> {
    const links = new PeerLinks(peers);
    for (const from of peers.keys()) {
      for (const to of peers.keys()) if (to !== from) await links.#connect(from, to);
    }
    return links;
  }

  /**
   * Returns the `server.N=` lines for server `index`: its own real address, and links as the addresses of the
   * others.
   */
  viewOf(index: number): string[] {
    return this.#peers.map((peer, to) => {
      const seen = to === index ? peer : this.#link(index, to);
      return `server.${to + 1}=127.0.0.1:${portOf(seen.quorum)}:${portOf(seen.election)}`;
    });
  }

  async isolate(index: number, lost: Loss = 'all'): Promise<void> {
    for (const { link, outbound } of this.#linksOf(index)) {
      const directions = lost === 'all' ? 'both' : lost === 'outbound' ? outbound : opposite[outbound];
      link.quorum.blackHole(directions);
      link.election.blackHole(directions);
    }
  }

  /** Delays all traffic between one server and the others by `delayMs`. */
  delay(index: number, delayMs: number): void {
    for (const { link } of this.#linksOf(index)) {
      link.quorum.delay(delayMs);
      link.election.delay(delayMs);
    }
  }

  /** Resets every connection between one server and the others. New connections are accepted. */
  reset(index: number): void {
    for (const { link } of this.#linksOf(index)) {
      link.quorum.resetAll();
      link.election.resetAll();
    }
  }

  async heal(): Promise<void> {
    await Promise.all(this.#links.flatMap(({ quorum, election }) => [quorum.heal(), election.heal()]));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#links.flatMap(({ quorum, election }) => [quorum.stop(), election.stop()]));
  }

  async #connect(from: number, to: number): Promise<void> {
    const { quorum, election } = this.#peer(to);
    this.#links.push({
      from,
      to,
      quorum: await startProxy({ target: `127.0.0.1:${quorum}`, patienceMs: learnerPatienceMs }),
      election: await startProxy({
        target: `127.0.0.1:${election}`,
        rewriter: () => this.#introducer(from, to),
      }),
    });
  }

  /**
   * Returns a function that rewrites the introduction of server `from` to server `to`. The introduction is
   * the first chunk on the election port and contains the server's own address. The peer would call back at
   * that address and so bypass the links. The function replaces it with the address of the link back to
   * `from`.
   */
  #introducer(from: number, to: number): (chunk: Buffer) => Buffer | null {
    const own = `127.0.0.1:${this.#peer(from).election}`;
    const seen = this.#link(to, from).election.address;
    let introduced = false;
    return (chunk) => {
      if (introduced) return chunk;
      introduced = true;
      const text = chunk.toString('latin1');
      // The sender belongs to another ensemble, and still connects to a port that it used before.
      if (own.length !== seen.length || !text.includes(own)) return null;
      return Buffer.from(text.replace(own, seen), 'latin1');
    };
  }

  /** Returns the links to and from a server, each with the direction in which this server sends. */
  #linksOf(index: number): { readonly link: Link; readonly outbound: Direction }[] {
    const touching = this.#links.filter(({ from, to }) => from === index || to === index);
    return touching.map((link) => ({ link, outbound: link.from === index ? 'toServer' : 'toClient' }));
  }

  #peer(index: number): PeerPorts {
    const peer = this.#peers[index];
    if (peer === undefined) throw new Error(`no server ${index} in an ensemble of ${this.#peers.length}`);
    return peer;
  }

  #link(from: number, to: number): Link {
    const link = this.#links.find((one) => one.from === from && one.to === to);
    if (link === undefined) throw new Error(`no link from server ${from} to server ${to}`);
    return link;
  }
}

function portOf(place: number | TcpProxy): number {
  return typeof place === 'number' ? place : place.port;
}
