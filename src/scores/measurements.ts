/** The current scores of this node. They are set by score sources and by the application. */

import type { Score } from '../model/scores.js';
import { defaultTolerance, type Tolerance } from './measuring.js';

export class Measurements {
  readonly #values = new Map<string, Score>();
  readonly #tolerances = new Map<string, Tolerance>();
  readonly #listeners = new Set<() => void>();

  /** Scores, keyed by name. A score is missing if it was not measured, or was measured too long ago. */
  get values(): ReadonlyMap<string, Score> {
    return this.#values;
  }

  /** Number of known scores, including those that currently have no value. */
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
  report(name: string, score: Score | null, tolerance: Tolerance = this.tolerance(name)): void {
    this.#tolerances.set(name, tolerance);
    if (score === (this.#values.get(name) ?? null)) return;
    if (score === null) this.#values.delete(name);
    else this.#values.set(name, score);
    for (const listener of this.#listeners) listener();
  }

  /** Removes a score that is no longer measured. */
  drop(name: string): void {
    this.report(name, null);
    this.#tolerances.delete(name);
  }

  /** Calls the listener whenever a value changes. Returns a function that unsubscribes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
