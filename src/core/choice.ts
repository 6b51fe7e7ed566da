/**
 * The elector's choice: which node should lead, and why. One pure function serves automatic elections,
 * retries, requested switchovers and simulations. The first rule with an outcome decides.
 *
 * The present leader is the node that `elected` names, as long as that node is eligible. The owner of
 * `current` may be a different node: during a handover it is the outgoing node.
 */

import type { Elected } from '../model/znodes.js';
import type { Choice, ChoiceInput, RuleOutcome } from './choice-input.js';
import { operatorDecision } from './operator-decision.js';
import { preference } from './preference.js';
import { rank } from './ranking.js';
import { replacement } from './replacement.js';

/** Returns the elector's choice. Throws RuleFault if the strategy cannot rank the eligible nodes. */
export function elect(input: ChoiceInput): Choice {
  const { elected, elsewhere, failures, ineligible, incumbent } = input;
  const ranking = rank(input);
  const all = { ...input, ranking };
  const present = ranking.find(({ node }) => node === incumbent);
  const outcome =
    retired(elected, elsewhere.retired) ??
    operatorDecision(all) ??
    (present === undefined ? replacement(all) : preference(all, present));
  return {
    node: elected.node,
    changes: false,
    cause: elected.cause,
    ranking,
    ineligible,
    recheckInMs: null,
    failures,
    requested: null,
    failedSite: null,
    ...outcome,
  };
}

/** Returns the choice to elect no node if the slot is being removed. Returns null if the slot is kept. */
function retired({ node }: Elected, why: string | null): RuleOutcome | null {
  return why === null ? null : { node: null, changes: node !== null, cause: 'planned', reason: why };
}
