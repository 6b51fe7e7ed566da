/**
 * Connections between Petrel's nodes and the ensemble. Packets on one connection arrive in order, as with
 * TCP.
 */

import { type Dial, xids } from 'petrel/internals';
import type { Context } from '../protocol.js';

export interface Packet {
  /** The incarnation of the node that owns the connection. */
  readonly incarnation: number;
  /** Distinguishes the connections of one incarnation. */
  readonly connection: number;
  /** Number of packets that this side sent before this one. */
  readonly place: number;
  /** The packet's content. Null means that this side has closed the connection. */
  readonly bytes: Buffer | null;
}

type Send = (packet: Packet, count: number) => void;

/** One end of a connection. */
export class End {
  readonly #send: Send;
  readonly #incarnation: number;
  readonly #connection: number;
  readonly #early = new Map<number, Packet['bytes']>();
  #sent = 0;
  #taken = 0;

  constructor({ incarnation, connection }: Pick<Packet, 'incarnation' | 'connection'>, send: Send) {
    this.#incarnation = incarnation;
    this.#connection = connection;
    this.#send = send;
  }

  send(bytes: Packet['bytes']): void {
    const packet = { incarnation: this.#incarnation, connection: this.#connection, place: this.#sent, bytes };
    this.#sent += 1;
    this.#send(packet, bytes === null || isPing(bytes) ? 0 : 1);
  }

  /**
   * Yields the packets that can be processed now that this one has arrived. Yields nothing while an earlier
   * packet is in transit.
   */
  *arrived({ place, bytes }: Packet): Generator<Packet['bytes']> {
    this.#early.set(place, bytes);
    for (;;) {
      const next = this.#early.get(this.#taken);
      if (next === undefined) return;
      this.#early.delete(this.#taken);
      this.#taken += 1;
      yield next;
    }
  }
}

/** Offset of the request's xid, after the frame's length. All pings have the same xid. */
const xidAt = 4;

function isPing(frame: Buffer): boolean {
  return frame.readInt32BE(xidAt) === xids.ping;
}

/** The connections of one incarnation of a node. */
export class Connections {
  readonly #context: Context<Packet>;
  readonly #open = new Map<number, { readonly end: End; take(bytes: Packet['bytes']): void }>();
  #made = 0;

  constructor(context: Context<Packet>) {
    this.#context = context;
  }

  readonly dial: Dial = (_endpoint, events) => {
    const { incarnation, n, send, timer } = this.#context;
    const connection = this.#made;
    this.#made += 1;
    const end = new End({ incarnation, connection }, (packet, count) => send(n, packet, count));
    const take = (bytes: Packet['bytes']) => {
      if (bytes === null) this.#open.delete(connection);
      if (bytes === null) events.closed();
      else events.received(bytes);
    };
    this.#open.set(connection, { end, take });
    timer(() => events.opened()).set(0);
    return {
      write: (bytes) => end.send(bytes),
      destroy: () => {
        if (this.#open.delete(connection)) end.send(null);
      },
    };
  };

  arrived(packet: Packet): void {
    if (packet.incarnation !== this.#context.incarnation) return;
    for (const bytes of this.#open.get(packet.connection)?.end.arrived(packet) ?? []) {
      // An earlier packet may have closed the connection.
      this.#open.get(packet.connection)?.take(bytes);
    }
  }
}
