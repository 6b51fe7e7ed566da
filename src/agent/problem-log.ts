/** Logs the problems that an agent encounters in its rounds. Logs each problem once. */
import type { Logger } from 'pino';
import { type KnownTree, remadeText } from '../tree/ensure-tree.js';

export class ProblemLog {
  readonly #log: Logger;
  #current = '';

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Logs a problem once. Logs it again only if it has ended in the meantime, or if a different problem has
   * followed it.
   */
  report(details: object, message: string): void {
    if (message !== this.#current) this.#log.error(details, message);
    this.#current = message;
  }

  /** Warns that znodes of the group are missing. Does nothing while an earlier problem continues. */
  reportMissingTree(root: string, known: KnownTree): void {
    if (this.#current !== '') return;
    this.#current = remadeText(known);
    this.#log.warn({ root }, this.#current);
  }

  /** Called after a round without a problem. */
  end(): void {
    this.#current = '';
  }
}
