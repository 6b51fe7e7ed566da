/** The input to a choice, the outcome of one of its rules, and the choice itself. */

import type { Claim, Member } from '../model/snapshot.js';
import type { Ranked } from '../model/strategy.js';
import type { Cause, Elected, FailureRecord } from '../model/znodes.js';
import type { Findings, Ineligible } from './constraint.js';
import type { Waits } from './elector-memory.js';
import type { Elsewhere } from './elsewhere.js';
import type { RankInput } from './ranking.js';

/** The input to a choice. */
export interface ChoiceInput extends RankInput, Findings, Waits {
  readonly members: readonly Member[];
  readonly elsewhere: Elsewhere;
  readonly current: Claim | null;
  /** The current failures, including the failure that this choice responds to. */
  readonly failures: readonly FailureRecord[];
  /** Whether the elected node has failed and no decision has responded to that failure yet. */
  readonly electedFailed: boolean;
}

export interface Choice {
  readonly node: string | null;
  /** False if the decision in `elected` remains unchanged and no write is needed. */
  readonly changes: boolean;
  readonly cause: Cause;
  /** The reason for the choice as text, for display. */
  readonly reason: string;
  /** The eligible nodes, best first. */
  readonly ranking: readonly Ranked[];
  readonly ineligible: readonly Ineligible[];
  /**
   * Time until the choice may change because a wait ends. Only the caller measures such waits, for example
   * how long a node has been eligible. `core/deadlines.ts` handles the instants that the input itself
   * contains.
   */
  readonly recheckInMs: number | null;
  /** The failures after this choice. A node that this choice tries again is no longer in backoff. */
  readonly failures: readonly FailureRecord[];
  /** The new value of `elected.requested`. Applies only if a new decision is written. */
  readonly requested: Elected['requested'];
  /** True if `requested` comes from an earlier request. The one in `config` is then not carried out. */
  readonly isReturn?: true;
  /** The new value of `elected.failedSite`. Applies only if a new decision is written. */
  readonly failedSite: string | null;
  /**
   * The better node that will replace the leader after a wait. No other slot may take this node in the
   * meantime. Missing if there is no such node.
   */
  readonly reserves?: string;
}

type Changed = Pick<Choice, 'node' | 'changes' | 'cause'>;
type Unchanged = { readonly [key in keyof Changed]?: never };

/**
 * The outcome of a rule of the choice. Without a node, the decision in `elected` remains unchanged. Without
 * `failures`, the failures remain as they are. `requested` and `failedSite` are null if they are missing.
 */
export type RuleOutcome = Pick<Choice, 'reason'> &
  (Changed | Unchanged) &
  Partial<Pick<Choice, 'recheckInMs' | 'failures' | 'requested' | 'isReturn' | 'failedSite' | 'reserves'>>;

/** The input to a rule of the choice. */
export interface RankedInput extends ChoiceInput {
  /** The eligible nodes, best first. */
  readonly ranking: readonly Ranked[];
}

/** At least one node of a ranking, in the order in which the nodes would replace the leader. */
export type BestFirst = readonly [Ranked, ...Ranked[]];
