/**
 * The network between the servers of one ensemble. Each link is a proxy, so that servers can be cut off from
 * one another while their clients stay connected. Every server has its own view of the others.
 */
import { type Direction, startProxy, type TcpProxy } from '../proxy.js';
import type { PeerNetwork } from './server-ensemble.js';

/**
 * A server retries if no server listens yet, but not after a connection was accepted and reset. So no
 * connection is accepted before the leader it is meant for listens.
 */
const learnerPatienceMs = 1_000;

/** Ports on 127.0.0.1 where a server really listens for its peers. */
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

/** What is lost between one server and the others: all, only what it sends, or only what it receives. */
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

  /** The `server.N=` lines for server `index`: its own real address, and the others behind the links. */
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

  /** Delays all traffic between one server and the others by this much. */
  delay(index: number, delayMs: number): void {
    for (const { link } of this.#linksOf(index)) {
      link.quorum.delay(delayMs);
      link.election.delay(delayMs);
    }
  }

  /** Resets every connection between one server and the others. New ones are accepted. */
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
   * A server introduces itself on the election port with its own address, and the peer calls it back there,
   * bypassing the links. So the introduction, which is the first chunk, is rewritten to the address at which
   * the peer may call it.
   */
  #introducer(from: number, to: number): (chunk: Buffer) => Buffer | null {
    const own = `127.0.0.1:${this.#peer(from).election}`;
    const seen = this.#link(to, from).election.address;
    let introduced = false;
    return (chunk) => {
      if (introduced) return chunk;
      introduced = true;
      const text = chunk.toString('latin1');
      // A server of another ensemble that still connects to a port it used before.
      if (own.length !== seen.length || !text.includes(own)) return null;
      return Buffer.from(text.replace(own, seen), 'latin1');
    };
  }

  /** The links that end at a server, each with the direction that carries what this server sends. */
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
