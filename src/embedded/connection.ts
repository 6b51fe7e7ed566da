/**
 * One client's connection: cuts the byte stream into packets and tells its server of them. Whatever the client
 * sends, the worst that happens is that this connection is closed.
 */

import type { Socket } from 'node:net';
import type { Identity } from './acl.js';
import { JuteReader, type JuteWriter } from './jute.js';

/** ZooKeeper's default `jute.maxbuffer`: the longest packet that a server accepts. */
export const maxPacketBytes = 0xfffff;
/** A client that lets this much pile up unread is let go. */
const maxUnreadBytes = 64 * 1024 * 1024;
/** For the handshake of a connection just made. */
const handshakeTimeoutMs = 10_000;

const lengthBytes = 4;

export interface ConnectionOwner {
  /** The text that answers a four-letter word, or undefined when it isn't one. */
  fourLetterWord(word: string): string | undefined;
  /** May throw: the connection is then closed. */
  packet(connection: Connection, reader: JuteReader): void;
  /** Called once, when the connection is gone. */
  closed(connection: Connection): void;
  problem(connection: Connection, error: unknown): void;
}

export class Connection {
  /** Tells connections apart; never used again. */
  readonly number: number;
  readonly remote: string;
  readonly identities: Identity[];
  /** 0n until the handshake is done. */
  sessionId = 0n;
  received = 0;
  sent = 0;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  #pending: Buffer = Buffer.alloc(0);
  #first = true;
  #ending = false;
  #frozen = false;
  #backlogged = false;

  constructor(number: number, socket: Socket, owner: ConnectionOwner) {
    this.number = number;
    this.#socket = socket;
    this.#owner = owner;
    const address = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
    this.remote = `${address}:${socket.remotePort}`;
    this.identities = [{ scheme: 'ip', id: address }];
    socket.setNoDelay(true);
    socket.setTimeout(handshakeTimeoutMs, () => this.#handshakeIsLate());
    socket.on('data', (bytes) => this.#receive(bytes));
    socket.on('end', () => this.destroy());
    socket.on('error', (error) => owner.problem(this, error));
    socket.on('close', () => owner.closed(this));
    socket.on('drain', () => this.#setBacklogged(false));
  }

  handshakeDone(sessionId: bigint): void {
    this.sessionId = sessionId;
    this.#socket.setTimeout(0);
  }

  send(record: JuteWriter): void {
    if (this.#ending || this.#socket.destroyed) return;
    this.sent += 1;
    if (!this.#socket.write(record.packet())) this.#setBacklogged(true);
    if (this.#socket.writableLength > maxUnreadBytes) this.destroy();
  }

  /** Closes after what was sent has gone out. What still comes in is ignored. */
  end(): void {
    this.#ending = true;
    this.#socket.end();
  }

  destroy(): void {
    this.#ending = true;
    this.#socket.destroy();
  }

  /** While frozen, nothing is read. */
  setFrozen(frozen: boolean): void {
    this.#frozen = frozen;
    this.#updateFlow();
  }

  #handshakeIsLate(): void {
    if (this.#frozen) this.#socket.setTimeout(handshakeTimeoutMs);
    else this.destroy();
  }

  #setBacklogged(backlogged: boolean): void {
    this.#backlogged = backlogged;
    this.#updateFlow();
  }

  #updateFlow(): void {
    if (this.#frozen || this.#backlogged) this.#socket.pause();
    else this.#socket.resume();
  }

  #receive(bytes: Buffer): void {
    if (this.#ending) return;
    try {
      this.#pending = Buffer.concat([this.#pending, bytes]);
      if (this.#first && this.#answerFourLetterWord()) return;
      for (let packet = this.#nextPacket(); packet; packet = this.#nextPacket()) {
        this.received += 1;
        this.#owner.packet(this, new JuteReader(packet));
        if (this.#ending) return;
      }
    } catch (error) {
      this.#owner.problem(this, error);
      this.destroy();
    }
  }

  #answerFourLetterWord(): boolean {
    if (this.#pending.length < lengthBytes) return false;
    this.#first = false;
    const text = this.#owner.fourLetterWord(this.#pending.toString('latin1', 0, lengthBytes));
    if (text === undefined) return false;
    this.#ending = true;
    this.#socket.end(text);
    return true;
  }

  #nextPacket(): Buffer | undefined {
    if (this.#pending.length < lengthBytes) return undefined;
    const length = this.#pending.readInt32BE();
    if (length < 0 || length > maxPacketBytes)
      throw new Error(`a packet of ${length} bytes is not acceptable`);
    const end = lengthBytes + length;
    if (this.#pending.length < end) return undefined;
    const packet = this.#pending.subarray(lengthBytes, end);
    this.#pending = this.#pending.subarray(end);
    return packet;
  }
}
