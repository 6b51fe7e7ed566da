/**
 * What this node has measured of itself and what counts at this moment: sources and the application write it.
 */
import { defaultTolerance, type Tolerance } from '../core/measuring.js';
import type { Score } from '../model/scores.js';

export class Measurements {
  readonly #values = new Map<string, Score>();
  readonly #tolerances = new Map<string, Tolerance>();
  readonly #listeners = new Set<() => void>();

  /** By name. What was not measured, or too long ago, is missing. */
  get values(): ReadonlyMap<string, Score> {
    return this.#values;
  }

  /** Scores that were ever told of, missing ones included. */
  get size(): number {
    return this.#tolerances.size;
  }

  has(name: string): boolean {
    return this.#tolerances.has(name);
  }

  tolerance(name: string): Tolerance {
    return this.#tolerances.get(name) ?? defaultTolerance(name);
  }

  /** Null: it is missing. */
  tell(name: string, score: Score | null, tolerance: Tolerance = this.tolerance(name)): void {
    this.#tolerances.set(name, tolerance);
    if (score === (this.#values.get(name) ?? null)) return;
    if (score === null) this.#values.delete(name);
    else this.#values.set(name, score);
    for (const listener of this.#listeners) listener();
  }

  /** It is measured no more. */
  drop(name: string): void {
    this.tell(name, null);
    this.#tolerances.delete(name);
  }

  /** Hears of every value that is not what it was. The returned function unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
