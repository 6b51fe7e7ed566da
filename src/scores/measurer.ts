/** A source that measures one score, once per call. */
import type { Parsed } from '../model/names.js';
import type { Score } from '../model/scores.js';

export interface Measurer {
  /**
   * Measures the score. Until there is enough data for a first value, returns null as the value and reports
   * no problem. Never rejects.
   */
  measure(): Promise<Parsed<Score | null>>;
  /** Cancels the current measurement. Resolves when everything that the measurement started has ended. */
  close(): Promise<void>;
}
