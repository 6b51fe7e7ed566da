/** Requests performed one after the other, in the order they came, and aborted while they wait or run. */
import type { DutyOutcome } from '../ports/duty.js';
import type { HookProcess } from './hook-process.js';
import type { RunRequest } from './messages.js';
import { notRun } from './outcomes.js';

export interface Running {
  readonly request: RunRequest;
  /** Null while it does not run yet, or has nothing to run. */
  process: HookProcess | null;
  /** Why it is to end; what has not started then must not. */
  abortedBecause: string | null;
}

export interface LaneListener {
  perform(running: Running): Promise<DutyOutcome>;
  settled(request: RunRequest, outcome: DutyOutcome): void;
  /** Nothing runs and nothing waits. */
  idle(): void;
}

export class Lane {
  readonly #listener: LaneListener;
  readonly #queue: RunRequest[] = [];
  #running: Running | null = null;
  #working = false;

  constructor(listener: LaneListener) {
    this.#listener = listener;
  }

  get running(): Running | null {
    return this.#running;
  }

  get idle(): boolean {
    return !this.#working;
  }

  /** Whether one that runs or waits is meant. */
  has(which: (request: RunRequest) => boolean): boolean {
    return (this.#running !== null && which(this.#running.request)) || this.#queue.some(which);
  }

  add(request: RunRequest, place: 'first' | 'last' = 'last'): void {
    if (place === 'first') this.#queue.unshift(request);
    else this.#queue.push(request);
    void this.#work();
  }

  /** What waits settles at once; what runs, when it has ended. */
  abort(which: (request: RunRequest) => boolean, reason: string, killAtMs = Number.POSITIVE_INFINITY): void {
    for (const request of this.#queue.filter(which)) {
      this.#queue.splice(this.#queue.indexOf(request), 1);
      this.#listener.settled(request, notRun(reason));
    }
    if (this.#running === null || !which(this.#running.request)) return;
    this.#running.abortedBecause ??= reason;
    this.#running.process?.abort(reason, killAtMs);
  }

  async #work(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    for (let request = this.#queue.shift(); request !== undefined; request = this.#queue.shift()) {
      this.#running = { request, process: null, abortedBecause: null };
      const outcome = await this.#listener.perform(this.#running);
      this.#running = null;
      this.#listener.settled(request, outcome);
    }
    this.#working = false;
    this.#listener.idle();
  }
}
