/**
 * The other group in an affinity rule. This group's leader must be on the same node or site as the other
 * group's leader, or away from it.
 */
import type { Place } from './znodes.js';

/** The state of a neighbour when it was read. */
export interface Neighbour {
  readonly root: string;
  /** The node that is READY in the other group. Null if there is none. */
  readonly leader: Place | null;
  /**
   * Whether this group's root path sorts first in a cycle of groups. In such a cycle, each group has an
   * affinity to the next. The first group's leader stays where it is, because otherwise the leaders of these
   * groups could chase one another forever.
   */
  readonly goesFirst: boolean;
}
