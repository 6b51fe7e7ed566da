/**
 * Logs an outage once a whole round through the servers has failed, then at growing intervals, and finally
 * when the outage ends. An outage begins when the connection is lost. It also begins at startup, so an
 * ensemble that is unreachable from the start is reported too.
 */
import type { Clock } from '../ports/clock.js';
import type { StoreState } from '../ports/store.js';

interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

const firstIntervalMs = 10_000;
const longestIntervalMs = 300_000;

export class Outage {
  readonly #clock: Clock;
  readonly #log: Log;
  #sinceMs: number;
  /** When to report this outage again. Null if the outage has not been reported. */
  #reported: { readonly nextAtMs: number; readonly intervalMs: number } | null = null;

  /** Starts in an outage: no server has been reached. */
  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
    this.#sinceMs = clock.monotonicMs();
  }

  entered(state: StoreState): void {
    if (state === 'CONNECTED') this.#end();
    if (state === 'SUSPENDED') this.#sinceMs = this.#clock.monotonicMs();
  }

  /** Records that another round through all servers failed. `why` gives the reason for each server. */
  goesOn(why: string): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#reported !== null && nowMs < this.#reported.nextAtMs) return;
    const intervalMs = Math.min((this.#reported?.intervalMs ?? firstIntervalMs / 2) * 2, longestIntervalMs);
    this.#reported = { nextAtMs: nowMs + intervalMs, intervalMs };
    this.#log.warn(
      { why, forMs: Math.round(nowMs - this.#sinceMs) },
      `ZooKeeper has been unreachable for ${this.#lasted(nowMs)}, retrying: ${why}`,
    );
  }

  #end(): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#reported !== null)
      this.#log.info(
        { forMs: Math.round(nowMs - this.#sinceMs) },
        `ZooKeeper is reachable again after ${this.#lasted(nowMs)}`,
      );
    this.#reported = null;
  }

  #lasted(nowMs: number): string {
    return `${((nowMs - this.#sinceMs) / 1000).toFixed(1)} s`;
  }
}
