/**
 * One client's connection. It splits the byte stream into packets and passes them to its server. Whatever a
 * client sends, the worst consequence is that this connection is closed.
 */

import type { Socket } from 'node:net';
import type { Identity } from '../model/acl.js';
import { FrameReader } from '../zookeeper/frames.js';
import { JuteReader, type JuteWriter } from './jute.js';

/** The longest packet that a server accepts, in bytes: ZooKeeper's default `jute.maxbuffer`. */
export const maxPacketBytes = 0xfffff;
/** Number of bytes that a client may leave unread. A client that leaves more bytes unread is disconnected. */
const maxUnreadBytes = 64 * 1024 * 1024;
/**
 * Milliseconds allowed for the handshake of a new connection, and for the client to close the connection
 * after the last response.
 */
const patienceMs = 10_000;

const wordBytes = 4;

export interface ConnectionOwner {
  /** Returns the response to a four-letter word, or undefined if `word` is not one. */
  fourLetterWord(word: string): string | undefined;
  /** Handles a packet. If this function throws, the connection is closed. */
  packet(connection: Connection, reader: JuteReader): void;
  /** Called once, after the connection has closed. */
  closed(connection: Connection): void;
  problem(connection: Connection, error: unknown): void;
}

export class Connection {
  /** Identifies the connection. Numbers are never reused. */
  readonly number: number;
  readonly remote: string;
  readonly identities: Identity[];
  /** Id of the client's session. 0n until the handshake is done. */
  sessionId = 0n;
  received = 0;
  sent = 0;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #frames = new FrameReader(maxPacketBytes);
  /** Bytes received while it is unclear whether they are a four-letter word. Null once this is clear. */
  #beginning: Buffer | null = Buffer.alloc(0);
  #deadline: NodeJS.Timeout | undefined;
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
    this.#setDeadline();
    socket.on('data', (bytes) => this.#receive(bytes));
    socket.on('end', () => this.destroy());
    socket.on('error', (error) => owner.problem(this, error));
    socket.on('close', () => {
      clearTimeout(this.#deadline);
      owner.closed(this);
    });
    socket.on('drain', () => this.#setBacklogged(false));
  }

  /** Whether packets from the client are still processed. */
  get isOpen(): boolean {
    return !this.#ending && !this.#socket.destroyed;
  }

  handshakeDone(sessionId: bigint): void {
    this.sessionId = sessionId;
    clearTimeout(this.#deadline);
  }

  send(record: JuteWriter): void {
    if (this.#ending || this.#socket.destroyed) return;
    this.sent += 1;
    if (!this.#socket.write(record.packet())) this.#setBacklogged(true);
    if (this.#socket.writableLength > maxUnreadBytes) this.destroy();
  }

  /**
   * Closes the connection once all pending output has been transmitted. Ignores data that arrives in the
   * meantime.
   */
  end(): void {
    this.#ending = true;
    this.#setDeadline();
    this.#socket.end();
  }

  destroy(): void {
    this.#ending = true;
    this.#socket.destroy();
  }

  /** Freezes or unfreezes the connection. A frozen connection reads nothing. */
  setFrozen(frozen: boolean): void {
    this.#frozen = frozen;
    this.#updateFlow();
    this.#contain(() => this.#answerPackets());
  }

  /**
   * Sets the deadline for the handshake or, after `end`, for the client to close the connection. The deadline
   * applies even if the client keeps sending bytes that never form a complete packet.
   */
  #setDeadline(): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => {
      if (this.#frozen) this.#setDeadline();
      else this.destroy();
    }, patienceMs);
  }

  #setBacklogged(backlogged: boolean): void {
    this.#backlogged = backlogged;
    this.#updateFlow();
    this.#contain(() => this.#answerPackets());
  }

  #updateFlow(): void {
    if (this.#frozen || this.#backlogged) this.#socket.pause();
    else this.#socket.resume();
  }

  #receive(bytes: Buffer): void {
    this.#contain(() => {
      const packets = this.#beginning === null ? bytes : this.#afterWord(this.#beginning, bytes);
      if (packets === null) return;
      this.#frames.add(packets);
      this.#answerPackets();
    });
  }

  /**
   * Answers the packets that have arrived. If the client does not read its responses, its further requests
   * must wait.
   */
  #answerPackets(): void {
    while (!this.#ending && !this.#backlogged && !this.#frozen) {
      const packet = this.#frames.next();
      if (packet === undefined) return;
      this.received += 1;
      this.#owner.packet(this, new JuteReader(packet));
    }
  }

  #contain(step: () => void): void {
    if (this.#ending) return;
    try {
      step();
    } catch (error) {
      this.#owner.problem(this, error);
      this.destroy();
    }
  }

  /**
   * Answers a four-letter word. Returns null if the bytes are one, or may still become one. Otherwise returns
   * all bytes received so far.
   */
  #afterWord(before: Buffer, bytes: Buffer): Buffer | null {
    const beginning = Buffer.concat([before, bytes]);
    if (beginning.length < wordBytes) {
      this.#beginning = beginning;
      return null;
    }
    this.#beginning = null;
    const text = this.#owner.fourLetterWord(beginning.toString('latin1', 0, wordBytes));
    if (text === undefined) return beginning;
    this.#socket.write(text);
    this.end();
    return null;
  }
}
