/** Another group that this one's leader has to be near to, or away from. */
import type { Place } from './znodes.js';

/** As it was read. */
export interface Neighbour {
  readonly root: string;
  /** Who is READY there. */
  readonly leader: Place | null;
  /**
   * Of a circle of groups, each beside the next, this one is the first by its root: so that they do not chase
   * one another for ever, whoever leads it stays.
   */
  readonly goesFirst: boolean;
}
