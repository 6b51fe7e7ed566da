/** What measures one score: once each time that it is asked. */
import type { Parsed } from '../model/names.js';
import type { Score } from '../model/scores.js';

export interface Gauge {
  /** Null without a problem: it cannot be told yet. Never rejects. */
  measure(): Promise<Parsed<Score | null>>;
  /** Gives up a measurement under way. Resolves when nothing of it is left. */
  close(): Promise<void>;
}
