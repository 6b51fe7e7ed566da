/**
 * Logs problems with sending to peers. Probes are repeated every second, so each kind of problem is logged
 * only once until the peer answers again.
 */
import type { Logger } from 'pino';
import { errorMessage } from '../errors.js';
import { type Endpoint, endpointText } from './endpoint.js';
import { codeOf } from './transport.js';

export class LogThrottle {
  readonly #log: Logger;
  readonly #logged = new Map<string, Set<string>>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Logs a problem. `to` is null for a problem that concerns all peers. */
  sendFailed(to: Endpoint | null, error: unknown): void {
    const where = to === null ? 'all peers' : endpointText(to);
    const kind = codeOf(error) || errorMessage(error);
    if (this.#isKnown(where, kind)) return;
    this.#log.warn({ error }, `probes to ${where} are failing; retrying: ${errorMessage(error)}`);
  }

  /** Logs `text`, unless it has already been logged for this peer. */
  once(where: string, text: string): void {
    if (!this.#isKnown(where, text)) this.#log.warn(text);
  }

  /** Records that the peer answers again. Later problems with it are logged again. */
  reset(where: string): void {
    this.#logged.delete(where);
  }

  #isKnown(where: string, kind: string): boolean {
    const kinds = this.#logged.get(where) ?? new Set();
    if (kinds.has(kind)) return true;
    this.#logged.set(where, kinds.add(kind));
    return false;
  }
}
