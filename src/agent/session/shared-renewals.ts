/**
 * The renewals of all leaderships that one session leads: one committed write an interval for them all, for
 * what proves the session alive proves it for each. Each write checks what a few of them stand on, in turn;
 * of what is gone the leadership is told, and the others do without it, at once. That a claim is gone is seen
 * by its watch, too.
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

/** Leaderships whose claims are checked by one write. */
const batch = 16;

export class SharedRenewals implements Renewals {
  readonly #options: SharedRenewalsOptions;
  /** Those that were checked last come last. */
  readonly #leaderships = new Set<RenewalOptions>();
  /** What they stand on is gone, as far as is known; they are about to find out. */
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

  /** Once, however many ask. */
  #soon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#options.clock.turn(() => {
      this.#isDue = false;
      this.#renewal?.now();
    });
  }

  #nextPaths(): readonly string[] {
    const standing = [...this.#leaderships].filter((leadership) => !this.#gone.has(leadership));
    const next = (standing.length > 0 ? standing : [...this.#leaderships]).slice(0, batch);
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
