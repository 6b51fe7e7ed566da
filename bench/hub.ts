/** Everything that participants say, in one place and on one clock. */
import { epochAheadMs, monotonicMs } from './clocks.js';
import { parseLine, type Said } from './lines.js';

export interface ElectionEvent {
  readonly what: Said['what'];
  readonly name: string;
  /** Monotonic. */
  readonly atMs: number;
}

export class Hub {
  readonly #events: ElectionEvent[] = [];
  readonly #waiting = new Set<() => void>();
  #epochAheadMs = epochAheadMs();

  /** Clocks drift apart: to be called when nothing is being measured. */
  compareClocks(): void {
    this.#epochAheadMs = epochAheadMs();
  }

  /** How many events there are so far: what comes behind a mark is what happened after it was made. */
  get mark(): number {
    return this.#events.length;
  }

  take(line: string): void {
    const said = parseLine(line);
    if (said === null) return;
    const atMs = said.clock === 'epoch' ? said.atMs - this.#epochAheadMs : said.atMs;
    this.#tell({ what: said.what, name: said.name, atMs });
  }

  /** Of a program that tells no time: what it said has just arrived. */
  arrived(what: Said['what'], name: string): void {
    this.#tell({ what, name, atMs: monotonicMs() });
  }

  since(mark: number): readonly ElectionEvent[] {
    return this.#events.slice(mark);
  }

  /** The first event behind the mark that is wanted. Rejects when there is none in time. */
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

  #tell(event: ElectionEvent): void {
    this.#events.push(event);
    for (const look of this.#waiting) look();
  }
}
