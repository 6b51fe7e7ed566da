/**
 * The claim of an elector that elects its own node. It is written together with the decision, so that no
 * second write is needed before the takeover. The result is the same as that of a claim after the decision.
 *
 * Not promised: that an elector which elects its own node always claims in this way. It decides first, and
 * claims later, if it has to wait for anything else.
 */
import type { Registration } from '../../model/registration.js';
import type { Claim } from '../../model/snapshot.js';
import type { ClaimContent } from '../../model/znodes.js';
import type { Stat } from '../../ports/store.js';

export interface OwnClaim {
  readonly content: ClaimContent;
  /** This node's registration as it is written with the claim. */
  readonly registration: Registration;
  /**
   * Begins the leadership, once the claim is written. `stat` belongs to a znode that the same multi has set.
   * Not called if the claim was not written, or if the reply was lost. The node then still reports the
   * failure that the decision responds to, and finds the claim when it reads the group.
   */
  begin(stat: Stat): Promise<Claim>;
}
