/** Clients that send requests according to a load. They measure the latencies under every leader. */
import type { ReplicatedService } from './replicated-service.js';

const requestsPerSecond = 24;

export class WorkloadPlace {
  readonly #service: ReplicatedService;
  readonly #shares: ReadonlyMap<string, number>;
  readonly #leaders: readonly string[];
  readonly #waited = new Map<string, number[]>();
  readonly #timers: NodeJS.Timeout[] = [];

  /**
   * Starts sending requests immediately. They cycle through `leaders`: each is sent as if the next node in
   * the list were the leader.
   */
  constructor(service: ReplicatedService, shares: ReadonlyMap<string, number>, leaders: readonly string[]) {
    this.#service = service;
    this.#shares = shares;
    this.#leaders = leaders;
    for (const [at, share] of shares) if (share > 0) this.#send(at, share);
  }

  rate(at: string): number {
    return (this.#shares.get(at) ?? 0) * requestsPerSecond;
  }

  /** Whether every pair of a server and a leader was measured at least this many times. */
  hasMeasured(times: number): boolean {
    return [...this.#shares].every(
      ([at, share]) => share === 0 || this.#leaders.every((leader) => this.#of(at, leader).length >= times),
    );
  }

  /**
   * Returns the average latency for clients under `leader`: the median for each server, weighted by the
   * server's share of the requests.
   */
  meanMs(leader: string): number {
    const parts = [...this.#shares].map(([at, share]) =>
      share === 0 ? 0 : share * median(this.#of(at, leader)),
    );
    return parts.reduce((sum, part) => sum + part, 0);
  }

  end(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  #send(at: string, share: number): void {
    let next = 0;
    const send = async () => {
      const leader = this.#leaders[next++ % this.#leaders.length] ?? '';
      this.#of(at, leader).push(await this.#service.request(at, leader));
    };
    this.#timers.push(setInterval(() => void send(), 1000 / (share * requestsPerSecond)));
  }

  #of(at: string, leader: string): number[] {
    const key = `${at} ${leader}`;
    const known = this.#waited.get(key) ?? [];
    this.#waited.set(key, known);
    return known;
  }
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
