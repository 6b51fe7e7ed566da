/**
 * Renews all leaderships of one session with one committed write per interval. One write is enough, because
 * proof that the session is alive renews the leases of all its leaderships. Each write checks the paths of a
 * few leaderships, in rotation.
 *
 * If a path is gone, its leadership is notified, and the other leaderships are renewed immediately, without a
 * check of that path. The watch on a claim also reports that the claim is gone.
 */
import type { Logger } from 'pino';
import { errorMessage } from '../../errors.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';
import { Renewal, type RenewalOptions, type Renewals, type Renewing } from './renewal.js';

export interface SharedRenewalsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Number of leaderships whose claims one write checks. */
const batch = 16;

export class SharedRenewals implements Renewals {
  readonly #options: SharedRenewalsOptions;
  /** Leaderships to renew. The most recently checked ones come last. */
  readonly #leaderships = new Set<RenewalOptions>();
  /** Leaderships whose paths seem to be gone. Each of them is about to check this. */
  readonly #gone = new Set<RenewalOptions>();
  #renewal: Renewing | null = null;
  #isDue = false;

  constructor(options: SharedRenewalsOptions) {
    this.#options = options;
  }

  begin(leadership: RenewalOptions): Renewing {
    this.#leaderships.add(leadership);
    this.#renewal ??= new Renewal({
      ...this.#options,
      paths: () => this.#nextPaths(),
      onTried: () => this.#tried(),
      onGone: (path) => this.#lost(path),
    });
    return {
      now: () => this.#soon(),
      stop: () => this.#stop(leadership),
    };
  }

  #stop(leadership: RenewalOptions): void {
    this.#leaderships.delete(leadership);
    this.#gone.delete(leadership);
    if (this.#leaderships.size > 0) return;
    this.#renewal?.stop();
    this.#renewal = null;
  }

  /** Schedules one renewal, however many leaderships request it. */
  #soon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#options.clock.turn(() => {
      this.#isDue = false;
      this.#renewal?.now();
    });
  }

  #nextPaths(): readonly string[] {
    const current = [...this.#leaderships].filter((leadership) => !this.#gone.has(leadership));
    const next = (current.length > 0 ? current : [...this.#leaderships]).slice(0, batch);
    this.#gone.clear();
    for (const leadership of next) {
      this.#leaderships.delete(leadership);
      this.#leaderships.add(leadership);
    }
    return next.flatMap((leadership) => leadership.paths());
  }

  #tried(): void {
    for (const leadership of [...this.#leaderships]) {
      try {
        leadership.onTried();
      } catch (error) {
        leadership.log.error({ error }, `cannot pass on a lease: ${errorMessage(error)}`);
      }
    }
  }

  #lost(path: string | undefined): void {
    const lost = [...this.#leaderships].filter(
      (leadership) => path === undefined || leadership.paths().includes(path),
    );
    for (const leadership of lost) {
      this.#gone.add(leadership);
      leadership.onGone(path);
    }
    if (lost.length < this.#leaderships.size) this.#soon();
  }
}
