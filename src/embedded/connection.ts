/**
 * One client's connection. It splits the byte stream into packets and passes them to its server. Whatever the
 * client sends, the worst consequence is that this connection is closed.
 */

import type { Socket } from 'node:net';
import type { Identity } from '../model/acl.js';
import { FrameReader } from '../zookeeper/frames.js';
import { JuteReader, type JuteWriter } from './jute.js';

/** ZooKeeper's default `jute.maxbuffer`: the longest packet that a server accepts. */
export const maxPacketBytes = 0xfffff;
/** A client that leaves this much unread is disconnected. */
const maxUnreadBytes = 64 * 1024 * 1024;
/** Time limit for the handshake of a new connection, and for the client to close after the last response. */
const patienceMs = 10_000;

const wordBytes = 4;

export interface ConnectionOwner {
  /** Returns the response to a four-letter word, or undefined if it is not one. */
  fourLetterWord(word: string): string | undefined;
  /** May throw, which closes the connection. */
  packet(connection: Connection, reader: JuteReader): void;
  /** Called once, when the connection has closed. */
  closed(connection: Connection): void;
  problem(connection: Connection, error: unknown): void;
}

export class Connection {
  /** Identifies the connection. Never reused. */
  readonly number: number;
  readonly remote: string;
  readonly identities: Identity[];
  /** 0n until the handshake is done. */
  sessionId = 0n;
  received = 0;
  sent = 0;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #frames = new FrameReader(maxPacketBytes);
  /** Bytes received before it is clear whether they are a four-letter word. Null after that. */
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

  /** Closes after everything sent has been transmitted. Ignores what still arrives. */
  end(): void {
    this.#ending = true;
    this.#setDeadline();
    this.#socket.end();
  }

  destroy(): void {
    this.#ending = true;
    this.#socket.destroy();
  }

  /** While frozen, it reads nothing. */
  setFrozen(frozen: boolean): void {
    this.#frozen = frozen;
    this.#updateFlow();
    this.#contain(() => this.#answerPackets());
  }

  /** Applies even if the client keeps sending bytes that form no complete packet. */
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

  /** Requests from a client that does not read its responses have to wait, like those not received yet. */
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
   * Answers a four-letter word. Returns null if it was one, or may still become one. Otherwise returns the
   * bytes received so far.
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
