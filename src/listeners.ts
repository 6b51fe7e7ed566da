/** Sets of listeners. If a listener fails, this affects neither the other listeners nor the caller. */

import { errorMessage } from './errors.js';

interface Log {
  warn(fields: object, message: string): void;
}

/**
 * Calls a listener. If the listener throws an error, or if its promise rejects, `onError` receives the error.
 */
export function callListener(call: () => unknown, onError: (error: unknown) => void): void {
  const failed = (error: unknown): void => {
    try {
      onError(error);
    } catch {
      // A logger reads the thrown value, and a getter of that value may throw in turn.
    }
  };
  try {
    const returned = call();
    // An unhandled rejection would end the process. Any thenable can reject, not only a Promise of this
    // realm.
    if (returned !== undefined) Promise.resolve(returned).catch(failed);
  } catch (error) {
    failed(error);
  }
}

export class Listeners<T> {
  readonly #listeners = new Set<(value: T) => unknown>();
  readonly #log: Log;
  readonly #of: string;

  /** Creates a set of listeners. `of` names their subject in log messages. */
  constructor(log: Log, of: string) {
    this.#log = log;
    this.#of = of;
  }

  /** Adds a listener. The returned function removes it. */
  add(listener: (value: T) => unknown): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls all listeners. A listener that is added during the call receives only later values. */
  notify(value: T): void {
    for (const listener of [...this.#listeners]) {
      callListener(
        () => listener(value),
        (error) => this.#log.warn({ err: error }, `a listener of ${this.#of} failed: ${errorMessage(error)}`),
      );
    }
  }
}
