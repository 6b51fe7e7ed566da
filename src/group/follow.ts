/** Reads a group again whenever it changes. */

import type { Clock } from '../ports/clock.js';
import { isStoreError } from '../ports/store.js';
import type { GroupAccess } from './config-write.js';
import { type GroupReading, type GroupView, readGroup } from './view.js';

export interface FollowOptions {
  /** Which changes count: see `readGroup`. */
  readonly watch: 'all' | 'decisions';
  /** Maximum time until the next read. Called after each read. */
  readonly nextLookInMs: () => number;
  /** Stops following: the generator then returns. */
  readonly signal: AbortSignal;
}

/**
 * Yields the group as it is, then again after each change, each reconnection, and each timeout. Changes that
 * arrive while the consumer is busy are merged. Throws StoreError if the session is over, or if reading fails
 * for a reason other than the connection.
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

/** A reconnection ends this wait early. */
const retryMs = 1000;

/** Returns null if the connection broke during the read. Its return rings the bell. */
async function readWhileInTouch(
  reading: GroupReading,
  watch: FollowOptions['watch'],
): Promise<GroupView | null> {
  const { store } = reading;
  try {
    // Consumers that watch everything also need the scores.
    return await readGroup(reading, { watch, scores: watch === 'all' });
  } catch (error) {
    if (store.state === 'LOST' || store.state === 'CLOSED') throw error;
    if (isStoreError(error, 'CONNECTION_LOSS', 'TIMEOUT')) return null;
    throw error;
  }
}

/** Remembers that it was rung until the next wait. */
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
