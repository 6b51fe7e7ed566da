/** Another group that this group's leader must be near to or away from. */
import type { Place } from './znodes.js';

/** The state of a neighbour when it was read. */
export interface Neighbour {
  readonly root: string;
  /** The node that is READY in the other group. Null if there is none. */
  readonly leader: Place | null;
  /**
   * Whether this group is the first one, ordered by root, in a cycle of groups that each have an affinity to
   * the next. Its leader then stays where it is, so that the groups do not chase one another forever.
   */
  readonly goesFirst: boolean;
}
