/** Follows a group: reads it again whenever it changes. */

import type { Clock } from '../ports/clock.js';
import { isStoreError } from '../ports/store.js';
import type { GroupAccess } from './config-write.js';
import { type GroupReading, type GroupView, readGroup } from './view.js';

export interface FollowOptions {
  /** The changes that trigger a read. See `readGroup`. */
  readonly watch: 'all' | 'decisions';
  /** Returns the longest time to wait until the next read. Called after each read. */
  readonly nextLookInMs: () => number;
  /** Stops following when aborted. The generator then returns. */
  readonly signal: AbortSignal;
}

/**
 * Yields the group, and then yields it again after each change, reconnection and timeout. Changes that arrive
 * while the consumer is busy are merged into one. Throws StoreError if the session is over, or if reading
 * fails for a reason other than a lost connection.
 */
export async function* follow(
  access: GroupAccess,
  { watch, nextLookInMs, signal }: FollowOptions,
): AsyncGenerator<GroupView, void> {
  const { store, clock } = access;
  const bell = new Bell(clock, signal);
  const unlisten = [store.onChange(() => bell.ring()), store.onState(() => bell.ring())];
  try {
    while (!signal.aborted) {
      bell.reset();
      const view = await readWhileInTouch(access, watch);
      if (view !== null) yield view;
      if (!signal.aborted) await bell.rung(view === null ? retryMs : nextLookInMs());
    }
  } finally {
    for (const stop of unlisten) stop();
    bell.close();
  }
}

/** Pause before a failed read is retried, in milliseconds. A reconnection ends the pause early. */
const retryMs = 1000;

/**
 * Reads the group. Returns null if the connection broke during the read. When the connection is restored, the
 * bell rings, and the caller reads the group again.
 */
async function readWhileInTouch(
  reading: GroupReading,
  watch: FollowOptions['watch'],
): Promise<GroupView | null> {
  const { store } = reading;
  try {
    // Read the scores too if the consumer watches everything.
    return await readGroup(reading, { watch, scores: watch === 'all' });
  } catch (error) {
    if (store.state === 'LOST' || store.state === 'CLOSED') throw error;
    if (isStoreError(error, 'CONNECTION_LOSS', 'TIMEOUT')) return null;
    throw error;
  }
}

/**
 * Wakes a waiting consumer. If the bell rings while no consumer is waiting, the next wait ends immediately.
 */
class Bell {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => this.ring();
  #hasRung = false;
  #wake: () => void = () => {};

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort);
  }

  ring(): void {
    this.#hasRung = true;
    this.#wake();
  }

  reset(): void {
    this.#hasRung = false;
  }

  async rung(atLatestMs: number): Promise<void> {
    if (this.#hasRung) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.timer(atLatestMs, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}
