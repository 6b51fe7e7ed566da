/** Another group that this group's leader must be near to or away from. */
import type { Place } from './znodes.js';

/** A neighbour as it was read. */
export interface Neighbour {
  readonly root: string;
  /** The node that is READY there. */
  readonly leader: Place | null;
  /**
   * Whether this group is the first by root in a cycle of groups, each with an affinity to the next. Its
   * leader then stays where it is, so that the groups do not chase one another forever.
   */
  readonly goesFirst: boolean;
}
