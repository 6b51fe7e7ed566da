/** Sets of listeners. A listener that fails harms nobody else: neither the other listeners nor the caller. */

import { errorMessage } from './errors.js';

interface Log {
  warn(fields: object, message: string): void;
}

/** Calls a listener. `onError` gets what it throws, and what the promise that it returns rejects with. */
export function callListener(call: () => unknown, onError: (error: unknown) => void): void {
  try {
    const returned = call();
    // A rejection that nobody handles ends the process. Any thenable can reject, not only a Promise of this realm.
    if (returned !== undefined) Promise.resolve(returned).catch(onError);
  } catch (error) {
    onError(error);
  }
}

export class Listeners<T> {
  readonly #listeners = new Set<(value: T) => unknown>();
  readonly #log: Log;
  readonly #of: string;

  /** `of`: what they listen to. */
  constructor(log: Log, of: string) {
    this.#log = log;
    this.#of = of;
  }

  /** The returned function unsubscribes. */
  add(listener: (value: T) => unknown): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A listener that is added meanwhile hears of the next value first. */
  notify(value: T): void {
    for (const listener of [...this.#listeners]) {
      callListener(
        () => listener(value),
        (error) => this.#log.warn({ err: error }, `a listener of ${this.#of} failed: ${errorMessage(error)}`),
      );
    }
  }
}
