/** Sends and receives packets over one UDP socket. The socket never keeps the process alive. */
import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import type { Endpoint } from './endpoint.js';
import { type Address, mapped, type OnPacket, type OnSendError, type Transport } from './transport.js';

/** Opens the transport. Rejects if it cannot listen on the address. */
export async function openUdp(
  at: Endpoint,
  onPacket: OnPacket,
  onSendError: OnSendError,
): Promise<UdpTransport> {
  const { address } = await lookup(at.host);
  const speaksIPv6 = isIPv6(address);
  const socket = createSocket({
    type: speaksIPv6 ? 'udp6' : 'udp4',
    // Destinations are always IP addresses, so no lookup is needed. Without a lookup, `send` starts sending
    // before it returns.
    lookup: (host, _options, done) => done(null, host, speaksIPv6 ? 6 : 4),
  });
  const listening = once(socket, 'listening');
  socket.bind({ address, port: at.port, exclusive: true });
  await listening;
  return new UdpTransport(socket, { speaksIPv6, onPacket, onSendError });
}

interface UdpOptions {
  readonly speaksIPv6: boolean;
  readonly onPacket: OnPacket;
  readonly onSendError: OnSendError;
}

class UdpTransport implements Transport {
  readonly port: number;
  readonly #socket: Socket;
  readonly #options: UdpOptions;
  #isClosed = false;

  constructor(socket: Socket, options: UdpOptions) {
    this.#socket = socket;
    this.#options = options;
    this.port = socket.address().port;
    socket.unref();
    socket.on('message', (bytes) => void options.onPacket(bytes, 'udp', null));
    socket.on('error', (error) => options.onSendError(null, error));
  }

  send(to: Address, bytes: Buffer): boolean {
    if (this.#isClosed) return false;
    const { speaksIPv6, onSendError } = this.#options;
    const sent = (error: Error | null) => {
      if (error !== null && !this.#isClosed) onSendError(to, error);
    };
    if (!speaksIPv6 && isIPv6(to.host)) {
      sent(new Error('the peer has an IPv6 address, but this node listens on an IPv4 address'));
      return false;
    }
    try {
      this.#socket.send(bytes, to.port, speaksIPv6 ? mapped(to.host) : to.host, sent);
      return true;
    } catch (error) {
      sent(error instanceof Error ? error : new Error(String(error)));
      return false;
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }
}
