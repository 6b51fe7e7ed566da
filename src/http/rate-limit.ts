/** Limits how many requests from one client are carried out per minute. */
import { isIPv6 } from 'node:net';
import type { Clock } from '../ports/clock.js';

const windowMs = 60_000;
/**
 * Maximum number of clients whose requests are counted. If there are more, the client that was counted first
 * is forgotten.
 */
const maxClients = 10_000;

export class RateLimit {
  /** Maximum number of requests that one client may make in a window. */
  readonly max: number;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #counts = new Map<string, number>();
  #endsAtMs = Number.NEGATIVE_INFINITY;

  constructor(max: number, clock: Pick<Clock, 'monotonicMs'>) {
    this.max = max;
    this.#clock = clock;
  }

  /**
   * Counts a request. Returns null if the request is allowed. Otherwise returns the number of seconds until
   * the next request is allowed.
   */
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

/**
 * Returns the address. For IPv6, returns its first 64 bits, because a client usually controls all addresses
 * that share these bits.
 */
export function networkOf(ip: string): string {
  if (!isIPv6(ip) || ip.includes('.')) return ip;
  const [head = [], tail] = ip.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const missing = 8 - head.length - (tail?.length ?? 0);
  const groups = [...head, ...Array.from({ length: missing }, () => '0'), ...(tail ?? [])];
  return groups.slice(0, 4).join(':');
}
