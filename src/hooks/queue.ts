/**
 * Performs requests one after the other, in order of arrival. A request can be aborted while it waits or
 * runs. A release is performed even if it was aborted while it waited, because the leadership must end in any
 * case.
 */
import type { HookResult } from '../ports/workload.js';
import type { HookProcess } from './hook-process.js';
import type { RunRequest } from './messages.js';
import { notRun } from './outcomes.js';

export interface Running {
  readonly request: RunRequest;
  /** Process of the request. Null if the request is not running yet or has no command to run. */
  process: HookProcess | null;
  /** Reason why the request must end, or must not start. Null if there is none. */
  abortedBecause: string | null;
}

export interface QueueListener {
  perform(running: Running): Promise<HookResult>;
  settled(request: RunRequest, outcome: HookResult): void;
  /** Called when no request is running or waiting. */
  idle(): void;
}

export class Queue {
  readonly #listener: QueueListener;
  readonly #queue: Running[] = [];
  #running: Running | null = null;
  #working = false;

  constructor(listener: QueueListener) {
    this.#listener = listener;
  }

  get running(): Running | null {
    return this.#running;
  }

  get idle(): boolean {
    return !this.#working;
  }

  /** Whether `which` selects a running or waiting request. */
  has(which: (request: RunRequest) => boolean): boolean {
    return (
      (this.#running !== null && which(this.#running.request)) ||
      this.#queue.some(({ request }) => which(request))
    );
  }

  add(request: RunRequest): void {
    this.#queue.push({ request, process: null, abortedBecause: null });
    void this.#work();
  }

  /**
   * Aborts the requests that `which` selects. A waiting request settles immediately, unless it is a release.
   * A running request settles when it has ended.
   */
  abort(which: (request: RunRequest) => boolean, reason: string, killAtMs = Number.POSITIVE_INFINITY): void {
    for (const waiting of this.#queue.filter(({ request }) => which(request))) {
      waiting.abortedBecause ??= reason;
      if (waiting.request.phase === 'release') continue;
      this.#queue.splice(this.#queue.indexOf(waiting), 1);
      this.#listener.settled(waiting.request, notRun(reason));
    }
    if (this.#running !== null && which(this.#running.request)) this.abortRunning(reason, killAtMs);
  }

  abortRunning(reason: string, killAtMs: number): void {
    if (this.#running === null) return;
    this.#running.abortedBecause ??= reason;
    this.#running.process?.abort(reason, killAtMs);
  }

  async #work(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      this.#running = next;
      const outcome = await this.#listener.perform(next);
      this.#running = null;
      this.#listener.settled(next.request, outcome);
    }
    this.#working = false;
    this.#listener.idle();
  }
}
