/** The transports of a node. All of them use the same port. */
import type { ProbeProtocol } from '../model/znodes.js';
import type { Endpoint } from './endpoint.js';
import { openTcp } from './tcp.js';
import {
  cannotListen,
  type OnPacket,
  type OnSendError,
  type Transport,
  type TransportName,
} from './transport.js';
import { openUdp } from './udp.js';

export interface Transports {
  readonly port: number;
  readonly byName: ReadonlyMap<TransportName, Transport>;
  close(): Promise<void>;
}

const openers = { tcp: openTcp, udp: openUdp };
/**
 * Maximum number of attempts to find a port. A port that is free for one protocol may be in use for the
 * other.
 */
const triesForAnyPort = 20;

/** Opens the transports. Throws PetrelError INVALID if they cannot listen on the address. */
export async function openTransports(
  at: Endpoint,
  protocol: ProbeProtocol,
  handlers: { readonly onPacket: OnPacket; readonly onSendError: OnSendError },
): Promise<Transports> {
  const names = protocol === 'auto' ? (['tcp', 'udp'] as const) : [protocol];
  for (let tries = 1; ; tries++) {
    const byName = new Map<TransportName, Transport>();
    const close = async () =>
      void (await Promise.all([...byName.values()].map((transport) => transport.close())));
    let port = at.port;
    try {
      for (const name of names) {
        const transport = await open(name, { host: at.host, port }, handlers);
        byName.set(name, transport);
        port = transport.port;
      }
      return { port, byName, close };
    } catch (error) {
      await close();
      const mayTryAgain = at.port === 0 && byName.size > 0 && tries < triesForAnyPort;
      if (!mayTryAgain) throw error;
    }
  }
}

async function open(
  name: TransportName,
  at: Endpoint,
  { onPacket, onSendError }: { readonly onPacket: OnPacket; readonly onSendError: OnSendError },
): Promise<Transport> {
  try {
    return await openers[name](at, onPacket, onSendError);
  } catch (error) {
    throw cannotListen(at, name, error);
  }
}
