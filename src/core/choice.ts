/**
 * The elector's choice: which node should lead, and why. One pure function serves automatic elections,
 * retries, requested switchovers and simulations. The first rule with an outcome decides.
 */

import type { Elected } from '../model/znodes.js';
import type { Case, Choice, ChoiceInput, Outcome } from './case.js';
import { awaited } from './first-election.js';
import { preference } from './preference.js';
import { rank } from './ranking.js';
import { replacement } from './replacement.js';
import { byOperator } from './requests.js';

/** Returns the elector's choice. Throws RuleFault if the strategy cannot rank the eligible nodes. */
export function elect(input: ChoiceInput): Choice {
  const { elected, elsewhere, failures, ineligible, incumbent, stillRequested } = input;
  const ranking = rank(input);
  const all: Case = { ...input, ranking, awaited: awaited(input, ranking, input.lookedForMs) };
  const present = ranking.find(({ node }) => node === incumbent);
  const outcome =
    retired(elected, elsewhere.retired) ??
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
    isAwaited: all.awaited !== null,
    stillRequested,
    failedSite: null,
    ...outcome,
  };
}

/** Returns the choice to elect no node if the slot is being removed. Returns null if the slot is kept. */
function retired({ node }: Elected, why: string | null): Outcome | null {
  return why === null ? null : { node: null, changes: node !== null, cause: 'planned', reason: why };
}
