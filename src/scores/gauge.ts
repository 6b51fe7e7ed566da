/** Measures one score, once per call. */
import type { Parsed } from '../model/names.js';
import type { Score } from '../model/scores.js';

export interface Gauge {
  /** Null without a problem if there is no value yet. Never rejects. */
  measure(): Promise<Parsed<Score | null>>;
  /** Cancels the current measurement. Resolves when nothing of it is left. */
  close(): Promise<void>;
}
