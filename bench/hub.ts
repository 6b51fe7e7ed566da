/** Collects the events of all participants in one place, with times of one clock. */
import { epochAheadMs, monotonicMs } from './clocks.js';
import { parseLine, type Said } from './lines.js';

export interface ElectionEvent {
  readonly what: Said['what'];
  readonly name: string;
  /** Time of the event on the monotonic clock. */
  readonly atMs: number;
}

export class Hub {
  readonly #events: ElectionEvent[] = [];
  readonly #waiting = new Set<() => void>();
  #epochAheadMs = epochAheadMs();

  /**
   * Measures the offset between the clocks again, because they drift apart. Call this while no measurement is
   * running.
   */
  compareClocks(): void {
    this.#epochAheadMs = epochAheadMs();
  }

  /** The number of events so far, as a mark. Later events come after the mark. */
  get mark(): number {
    return this.#events.length;
  }

  take(line: string): void {
    const said = parseLine(line);
    if (said === null) return;
    const atMs = said.clock === 'epoch' ? said.atMs - this.#epochAheadMs : said.atMs;
    this.#record({ what: said.what, name: said.name, atMs });
  }

  /** Records an event of a program that reports no times. The event gets the current time. */
  arrived(what: Said['what'], name: string): void {
    this.#record({ what, name, atMs: monotonicMs() });
  }

  since(mark: number): readonly ElectionEvent[] {
    return this.#events.slice(mark);
  }

  /** Resolves with the first wanted event after the mark. Rejects if no such event occurs in time. */
  event(
    wanted: (event: ElectionEvent) => boolean,
    { mark, timeoutMs, describe }: { mark: number; timeoutMs: number; describe: string },
  ): Promise<ElectionEvent> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.since(mark).find(wanted);
        if (found === undefined) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(found);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Error(`waited ${timeoutMs} ms for ${describe}`));
      }, timeoutMs);
      timer.unref();
      this.#waiting.add(look);
      look();
    });
  }

  #record(event: ElectionEvent): void {
    this.#events.push(event);
    for (const look of this.#waiting) look();
  }
}
