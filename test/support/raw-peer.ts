/** A handmade probe peer: a UDP socket, and the packets that a test sends and receives through it. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { ProbeAddress } from '../../src/model/znodes.js';
import { type Packet, PacketCoder } from '../../src/probe/packet.js';
import { until } from './until.js';

const host = '127.0.0.1';

export class RawPeer implements AsyncDisposable {
  /** Received messages, oldest first. */
  readonly got: Buffer[] = [];
  readonly coder: PacketCoder;
  readonly #socket: Socket;

  private constructor(socket: Socket, coder: PacketCoder) {
    this.#socket = socket;
    this.coder = coder;
    socket.on('message', (bytes) => this.got.push(bytes));
  }

  static async open(node: string, root: string, secret: string | null = null): Promise<RawPeer> {
    const socket = createSocket('udp4');
    const listening = once(socket, 'listening');
    socket.bind(0, host);
    await listening;
    return new RawPeer(socket, new PacketCoder({ node, root, secret }));
  }

  get address(): ProbeAddress {
    return { host, port: this.#socket.address().port, protocol: 'udp' };
  }

  send(to: ProbeAddress, bytes: Buffer): void {
    this.#socket.send(bytes, to.port, host);
  }

  /** Returns the received messages of this kind, as packets. */
  packets(kind: 'question' | 'answer'): { readonly packet: Packet; readonly bytes: Buffer }[] {
    return this.got.flatMap((bytes) => {
      const packet = this.coder.read(bytes);
      const isWanted = packet !== null && (packet.kind === 'question') === (kind === 'question');
      return isWanted ? [{ packet, bytes }] : [];
    });
  }

  /** Waits for the answer to a question. */
  async answer(number: string): Promise<Buffer> {
    const { bytes } = await until(() =>
      this.packets('answer').find(({ packet }) => packet.number === number),
    );
    return bytes;
  }

  /** Waits for the question that comes after `count` others. */
  async question(count = 0): Promise<Packet> {
    const { packet } = await until(() => this.packets('question')[count]);
    return packet;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((done) => this.#socket.close(done));
  }
}
