/**
 * Renews a leadership's lease by a committed write at regular intervals, and immediately when the connection
 * is restored. Renewals do not wait for one another. The reads of a round do not renew the lease. If the
 * server does not answer, the client switches to another server while there is still time. A server that
 * fails silently therefore does not cost the leader its lease.
 *
 * Not promised: that a renewal succeeds. Only the store knows how long the lease lasts.
 */
import type { Logger } from 'pino';
import { errorMessage } from '../../errors.js';
import { renewalIntervalMs, serverPatienceMs } from '../../lease/lease.js';
import type { Clock } from '../../ports/clock.js';
import { isStoreError, type Store } from '../../ports/store.js';

export interface RenewalOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Paths that must exist for the leadership to continue. */
  paths(): readonly string[];
  /** Called when an attempt to renew has ended, successfully or not. */
  onTried(): void;
  /** Called when a required path is gone. `path` names it, if the store knows which one. */
  onGone(path: string | undefined): void;
}

/** Controls the renewals that `Renewals.begin` has started. */
export interface Renewing {
  /** Renews without waiting for the next interval. */
  now(): void;
  stop(): void;
}

export interface Renewals {
  begin(options: RenewalOptions): Renewing;
}

/** Renews each leadership separately. */
export const ownRenewals: Renewals = { begin: (options) => new Renewal(options) };

export class Renewal implements Renewing {
  readonly #options: RenewalOptions;
  /** Instants at which the unanswered renewals were sent, oldest first. */
  readonly #unanswered = new Set<number>();
  #cancel: () => void = () => {};
  #stopped = false;

  constructor(options: RenewalOptions) {
    this.#options = options;
    this.#schedule();
  }

  now(): void {
    if (this.#stopped) return;
    this.#cancel();
    this.#schedule();
    this.#leaveSilentServer();
    void this.#renew();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #schedule(): void {
    const { clock, store } = this.#options;
    this.#cancel = clock.timer(renewalIntervalMs(store.negotiatedTimeoutMs), () => this.now());
  }

  #leaveSilentServer(): void {
    const { clock, store } = this.#options;
    const [oldestAtMs = Number.POSITIVE_INFINITY] = this.#unanswered;
    if (clock.monotonicMs() - oldestAtMs >= serverPatienceMs(store.negotiatedTimeoutMs)) store.changeServer();
  }

  async #renew(): Promise<void> {
    const { clock, store, paths, log, onTried, onGone } = this.#options;
    // The multi contains only checks. It is a committed write, but it changes nothing and wakes no node.
    const checks = paths().map((path) => ({ type: 'check', path, version: 'any' }) as const);
    const sentAtMs = clock.monotonicMs();
    this.#unanswered.add(sentAtMs);
    try {
      await store.multi(checks);
    } catch (error) {
      log.debug({ error }, `cannot renew the lease: ${errorMessage(error)}`);
      if (isStoreError(error, 'NO_NODE')) onGone(checks[error.failedOp ?? -1]?.path);
    } finally {
      this.#unanswered.delete(sentAtMs);
    }
    if (!this.#stopped) onTried();
  }
}
