/** Another group that this group's leader must be near to or away from. */
import type { Place } from './znodes.js';

/** The state of a neighbour when it was read. */
export interface Neighbour {
  readonly root: string;
  /** The node that is READY in the other group. Null if there is none. */
  readonly leader: Place | null;
  /**
   * Whether this group comes first, by root path, in a cycle of groups, each of which has an affinity to the
   * next. In that case, its leader stays where it is, so that the groups do not chase one another forever.
   */
  readonly goesFirst: boolean;
}
