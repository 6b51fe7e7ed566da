/**
 * The simulated world's time. Everything that happens is an event at an instant, and events happen one after
 * the other. A seed always gives the same run, because only the seed determines the order of the events. The
 * order does not depend on the machine's clock, load or timers.
 *
 * A process may react to an event in promises. These promises settle before the next event begins.
 */
import type { Chance } from '../support/chance.js';

interface Event {
  readonly atMs: number;
  readonly number: number;
  fire: (() => void) | null;
}

export class World {
  readonly chance: Chance;
  /** Lines of the trace. Null if no trace is kept. */
  readonly trace: string[] | null;
  /** Returns the name of a session's owner, for the trace. */
  nameOf: (session: bigint) => string = String;
  #nowMs = 0;
  #steps = 0;
  #numbers = 0;
  #ranCode = false;
  readonly #queue: Event[] = [];

  constructor(chance: Chance, keepsTrace = false) {
    this.chance = chance;
    this.trace = keepsTrace ? [] : null;
  }

  /** Milliseconds since the beginning of the simulation, in true time. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get steps(): number {
    return this.#steps;
  }

  note(text: () => string): void {
    this.trace?.push(`${(this.#nowMs / 1000).toFixed(3).padStart(8)} s  ${text()}`);
  }

  /** Schedules an event. The returned function cancels the event. */
  at(atMs: number, fire: () => void): () => void {
    const event: Event = { atMs: Math.max(atMs, this.#nowMs), number: this.#numbers, fire };
    this.#numbers += 1;
    this.#push(event);
    return () => {
      event.fire = null;
    };
  }

  after(delayMs: number, fire: () => void): () => void {
    return this.at(this.#nowMs + delayMs, fire);
  }

  /**
   * Announces that the current event runs code with promises. The next event must wait for these promises.
   */
  codeRuns(): void {
    this.#ranCode = true;
  }

  /** Runs events until `untilMs`, or until `stop` returns true after one of them. */
  async run(untilMs: number, stop: () => boolean): Promise<void> {
    for (;;) {
      const event = this.#queue[0];
      if (event === undefined || event.atMs > untilMs) break;
      this.#pop();
      if (event.fire === null) continue;
      this.#nowMs = event.atMs;
      this.#steps += 1;
      event.fire();
      if (this.#ranCode) {
        this.#ranCode = false;
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      if (stop()) return;
    }
    this.#nowMs = Math.max(this.#nowMs, untilMs);
  }

  // -- A binary heap with the earliest event first. Events of one instant keep the order in which they were
  // scheduled.

  #push(event: Event): void {
    const queue = this.#queue;
    let index = queue.push(event) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = queue[above];
      if (parent === undefined || !isBefore(event, parent)) break;
      queue[index] = parent;
      index = above;
    }
    queue[index] = event;
  }

  #pop(): void {
    const queue = this.#queue;
    const last = queue.pop();
    if (last === undefined || queue.length === 0) return;
    let index = 0;
    for (;;) {
      let below = 2 * index + 1;
      let child = queue[below];
      const right = queue[below + 1];
      if (child === undefined) break;
      if (right !== undefined && isBefore(right, child)) {
        below += 1;
        child = right;
      }
      if (!isBefore(child, last)) break;
      queue[index] = child;
      index = below;
    }
    queue[index] = last;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.number < other.number);
}
