/**
 * A queue of future events, ordered by time. Times are whole nanoseconds, so sums of the same durations
 * always give the same instant. Among events at the same instant, arrivals run before timers, and events that
 * were planned earlier run before events that were planned later.
 */
import TinyQueue from 'tinyqueue';

const ticksOfMs = 1e6;

export function ticks(ms: number): number {
  return Math.round(ms * ticksOfMs);
}

export type Kind = 'arrival' | 'timer';
const rank = { arrival: 0, timer: 1 } as const;

interface Planned {
  readonly at: number;
  readonly rank: number;
  readonly order: number;
  run(): void;
}

function compare(a: Planned, b: Planned): number {
  return a.at - b.at || a.rank - b.rank || a.order - b.order;
}

export class Events {
  readonly #queue = new TinyQueue<Planned>([], compare);
  #planned = 0;
  #now = 0;

  /** The current instant, in ticks. */
  get now(): number {
    return this.#now;
  }

  get nowMs(): number {
    return this.#now / ticksOfMs;
  }

  /** The instant of the next event, in ticks. Infinity if there is none. */
  get nextAt(): number {
    return this.#queue.peek()?.at ?? Number.POSITIVE_INFINITY;
  }

  plan(at: number, kind: Kind, run: () => void): void {
    this.#planned += 1;
    this.#queue.push({ at: Math.max(at, this.#now), rank: rank[kind], order: this.#planned, run });
  }

  /** Runs the next event. */
  step(): void {
    const next = this.#queue.pop();
    if (next === undefined) return;
    this.#now = next.at;
    next.run();
  }

  /** Runs all events up to an instant, and advances the time to it. */
  runTo(at: number): void {
    while (this.nextAt <= at) this.step();
    this.#now = Math.max(this.#now, at);
  }
}
