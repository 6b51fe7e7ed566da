/** The current scores of this node. Sources and the application write them. */
import { defaultTolerance, type Tolerance } from '../core/measuring.js';
import type { Score } from '../model/scores.js';

export class Measurements {
  readonly #values = new Map<string, Score>();
  readonly #tolerances = new Map<string, Tolerance>();
  readonly #listeners = new Set<() => void>();

  /** By name. A score that was not measured, or too long ago, is missing. */
  get values(): ReadonlyMap<string, Score> {
    return this.#values;
  }

  /** The number of known scores, including missing ones. */
  get size(): number {
    return this.#tolerances.size;
  }

  has(name: string): boolean {
    return this.#tolerances.has(name);
  }

  tolerance(name: string): Tolerance {
    return this.#tolerances.get(name) ?? defaultTolerance(name);
  }

  /** Records a score. Null marks it as missing. */
  tell(name: string, score: Score | null, tolerance: Tolerance = this.tolerance(name)): void {
    this.#tolerances.set(name, tolerance);
    if (score === (this.#values.get(name) ?? null)) return;
    if (score === null) this.#values.delete(name);
    else this.#values.set(name, score);
    for (const listener of this.#listeners) listener();
  }

  /** Removes a score that is no longer measured. */
  drop(name: string): void {
    this.tell(name, null);
    this.#tolerances.delete(name);
  }

  /** Calls the listener whenever a value changes. The returned function unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
