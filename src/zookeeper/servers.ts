/**
 * Picks the next server to try, and its address. Each attempt resolves the name again, so a server may change
 * its address. A name that does not resolve uses up only the time of its own attempt.
 */
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Clock } from '../ports/clock.js';
import type { Server } from './connection-string.js';

export class ServerRotation {
  readonly #servers: readonly Server[];
  readonly #turns = new Map<Server, number>();
  #next = 0;

  /**
   * Shuffles the servers, to spread clients over them. `random` returns a number from 0 (inclusive) to 1
   * (exclusive).
   */
  constructor(servers: readonly Server[], random: () => number) {
    this.#servers = shuffled(servers, random);
  }

  get size(): number {
    return this.#servers.length;
  }

  next(): Server {
    const server = this.#servers[this.#next];
    if (server === undefined) throw new RangeError('no servers');
    this.#next = (this.#next + 1) % this.#servers.length;
    return server;
  }

  /** Returns the server's addresses, starting with a different address each time. */
  rotate(server: Server, addresses: readonly LookupAddress[]): LookupAddress[] {
    const turn = this.#turns.get(server) ?? 0;
    this.#turns.set(server, turn + 1);
    const start = addresses.length === 0 ? 0 : turn % addresses.length;
    return [...addresses.slice(start), ...addresses.slice(0, start)];
  }
}

export interface ResolveOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly lookup: LookupFunction | undefined;
  /** Cancels the lookup when aborted. */
  readonly signal: AbortSignal;
}

/**
 * Returns all addresses of a host. Rejects if the host has no address, or if the resolver does not answer in
 * time.
 */
export function resolveHost(host: string, options: ResolveOptions): Promise<LookupAddress[]> {
  // Load the DNS module on demand: a guardian rarely needs it.
  const lookup: LookupFunction = options.lookup ?? process.getBuiltinModule('node:dns').lookup;
  return new Promise((resolve, reject) => {
    const giveUp = (why: string) => {
      cancel();
      options.signal.removeEventListener('abort', stop);
      reject(new Error(why));
    };
    const stop = () => giveUp('cancelled');
    const cancel = options.clock.timer(options.timeoutMs, () => {
      giveUp(`the name was not resolved within ${Math.round(options.timeoutMs)} ms`);
    });
    options.signal.addEventListener('abort', stop);
    lookup(host, { all: true }, (error, result, family) => {
      const found = typeof result === 'string' ? [{ address: result, family: family ?? 0 }] : result;
      if (error || found.length === 0) return giveUp(error?.message ?? 'the name has no address');
      cancel();
      options.signal.removeEventListener('abort', stop);
      resolve(found);
    });
  });
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
