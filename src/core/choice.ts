/**
 * The elector's choice: which node should lead, and why. One pure function serves automatic elections,
 * retries, requested switchovers and simulations. The first rule with an outcome decides.
 */

import type { Case, Choice, ChoiceInput, Outcome } from './case.js';
import { findingsOf } from './constraint.js';
import { preference } from './preference.js';
import { rank } from './ranking.js';
import { replacement } from './replacement.js';
import { byOperator } from './requests.js';

/** Returns the elector's choice. Throws RuleFault if the strategy cannot rank the eligible nodes. */
export function elect(input: ChoiceInput): Choice {
  const { elected, failures } = input;
  const findings = findingsOf(input.judged, elected, input.electedFailed);
  const { ineligible, incumbent, stillRequested } = findings;
  const ranking = rank(input, findings);
  const all: Case = { ...input, ...findings, ranking };
  const present = ranking.find(({ node }) => node === incumbent);
  const outcome =
    retired(input) ??
    byOperator(all) ??
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
    stillRequested,
    failedSite: null,
    ...outcome,
  };
}

/** Returns the choice to elect no node if the slot is being removed. Returns null if the slot is kept. */
function retired({ elected, elsewhere: { retired: why } }: ChoiceInput): Outcome | null {
  return why === null ? null : { node: null, changes: elected.node !== null, cause: 'planned', reason: why };
}
