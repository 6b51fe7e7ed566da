/** Limits how many requests of one client are carried out in a minute. */
import { isIPv6 } from 'node:net';
import type { Clock } from '../ports/clock.js';

const windowMs = 60_000;
/** Number of clients that are counted. If there are more, the one that came first is forgotten. */
const maxClients = 10_000;

export class RateLimit {
  /** Number of requests of one client in a window. */
  readonly max: number;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #counts = new Map<string, number>();
  #endsAtMs = Number.NEGATIVE_INFINITY;

  constructor(max: number, clock: Pick<Clock, 'monotonicMs'>) {
    this.max = max;
    this.#clock = clock;
  }

  /** Counts a request. Returns the seconds until the next one is allowed, or null if this one is. */
  count(ip: string): number | null {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= this.#endsAtMs) {
      this.#counts.clear();
      this.#endsAtMs = nowMs + windowMs;
    }
    const client = networkOf(ip);
    const count = (this.#counts.get(client) ?? 0) + 1;
    this.#counts.set(client, count);
    const [first] = this.#counts.keys();
    if (this.#counts.size > maxClients && first !== undefined) this.#counts.delete(first);
    return count <= this.max ? null : Math.ceil((this.#endsAtMs - nowMs) / 1000);
  }
}

/** Returns the address, or the first 64 bits of an IPv6 address: a client usually has all that share them. */
export function networkOf(ip: string): string {
  if (!isIPv6(ip) || ip.includes('.')) return ip;
  const [head = [], tail] = ip.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const missing = 8 - head.length - (tail?.length ?? 0);
  const groups = [...head, ...Array.from({ length: missing }, () => '0'), ...(tail ?? [])];
  return groups.slice(0, 4).join(':');
}
