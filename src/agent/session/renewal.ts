/**
 * Keeps a leadership's lease renewed: a committed write again and again, and at once when the connection
 * stands anew. None waits for the one before. The rounds' own reads prove nothing. A server that does not
 * answer is left for another while there is time: the leader must not lose its lease because one server died
 * without a word.
 *
 * Not promised: that a renewal succeeds. Until when the lease runs is told by the store alone.
 */
import type { Logger } from 'pino';
import { renewalIntervalMs, serverPatienceMs } from '../../core/lease.js';
import { errorMessage } from '../../errors.js';
import type { Clock } from '../../ports/clock.js';
import { isStoreError, type Store } from '../../ports/store.js';

export interface RenewalOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** What has to stand for the leadership to go on. */
  paths(): readonly string[];
  /** A try has ended, well or not. */
  onTried(): void;
  /** Something that has to stand is gone; what, where the store can tell. */
  onGone(path: string | undefined): void;
}

/** Renewals under way. */
export interface Renewing {
  /** Renews without waiting for the next turn. */
  now(): void;
  stop(): void;
}

export interface Renewals {
  begin(options: RenewalOptions): Renewing;
}

/** Each leadership's are its own. */
export const ownRenewals: Renewals = { begin: (options) => new Renewal(options) };

export class Renewal implements Renewing {
  readonly #options: RenewalOptions;
  /** When each renewal that is not answered was sent, oldest first. */
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
    // Checks alone: a committed write that changes nothing and wakes nobody.
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
