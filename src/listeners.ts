/** Sets of listeners. A listener that fails affects neither the other listeners nor the caller. */

import { errorMessage } from './errors.js';

interface Log {
  warn(fields: object, message: string): void;
}

/** Calls a listener. `onError` receives what it throws, or what its promise rejects with. */
export function callListener(call: () => unknown, onError: (error: unknown) => void): void {
  const failed = (error: unknown): void => {
    try {
      onError(error);
    } catch {
      // A logger reads the thrown value, and one of its getters may throw in turn.
    }
  };
  try {
    const returned = call();
    // An unhandled rejection ends the process. Any thenable can reject, not only a Promise of this realm.
    if (returned !== undefined) Promise.resolve(returned).catch(failed);
  } catch (error) {
    failed(error);
  }
}

export class Listeners<T> {
  readonly #listeners = new Set<(value: T) => unknown>();
  readonly #log: Log;
  readonly #of: string;

  /** `of` is the subject of the listeners, for log messages. */
  constructor(log: Log, of: string) {
    this.#log = log;
    this.#of = of;
  }

  /** The returned function unsubscribes. */
  add(listener: (value: T) => unknown): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A listener added during the call is first notified of the next value. */
  notify(value: T): void {
    for (const listener of [...this.#listeners]) {
      callListener(
        () => listener(value),
        (error) => this.#log.warn({ err: error }, `a listener of ${this.#of} failed: ${errorMessage(error)}`),
      );
    }
  }
}
