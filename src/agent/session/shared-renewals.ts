/**
 * The renewals of all tenures that one session leads: one committed write an interval for them all, for what proves the
 * session alive proves it for each. Each write checks what a few of them stand on, in turn; of what is gone the tenure is
 * told, and the others do without it, at once. That a claim is gone is seen by its watch, too.
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

/** Tenures whose claims are checked by one write. */
const batch = 16;

export class SharedRenewals implements Renewals {
  readonly #options: SharedRenewalsOptions;
  /** Those that were checked last come last. */
  readonly #tenures = new Set<RenewalOptions>();
  /** What they stand on is gone, as far as is known; they are about to find out. */
  readonly #gone = new Set<RenewalOptions>();
  #renewal: Renewing | null = null;
  #isDue = false;

  constructor(options: SharedRenewalsOptions) {
    this.#options = options;
  }

  begin(tenure: RenewalOptions): Renewing {
    this.#tenures.add(tenure);
    this.#renewal ??= new Renewal({
      ...this.#options,
      paths: () => this.#nextPaths(),
      onTried: () => this.#tried(),
      onGone: (path) => this.#lost(path),
    });
    return {
      now: () => this.#soon(),
      stop: () => this.#stop(tenure),
    };
  }

  #stop(tenure: RenewalOptions): void {
    this.#tenures.delete(tenure);
    this.#gone.delete(tenure);
    if (this.#tenures.size > 0) return;
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
    const standing = [...this.#tenures].filter((tenure) => !this.#gone.has(tenure));
    const next = (standing.length > 0 ? standing : [...this.#tenures]).slice(0, batch);
    this.#gone.clear();
    for (const tenure of next) {
      this.#tenures.delete(tenure);
      this.#tenures.add(tenure);
    }
    return next.flatMap((tenure) => tenure.paths());
  }

  #tried(): void {
    for (const tenure of [...this.#tenures]) {
      try {
        tenure.onTried();
      } catch (error) {
        tenure.log.error({ error }, `a lease could not be handed on: ${errorMessage(error)}`);
      }
    }
  }

  #lost(path: string | undefined): void {
    const lost = [...this.#tenures].filter((tenure) => path === undefined || tenure.paths().includes(path));
    for (const tenure of lost) {
      this.#gone.add(tenure);
      tenure.onGone(path);
    }
    if (lost.length < this.#tenures.size) this.#soon();
  }
}
