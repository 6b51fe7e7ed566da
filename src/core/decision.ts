/** Turns a choice into the writes and other actions that the elector should carry out. */

import { sitePriority } from '../model/group-config.js';
import type { CircuitBreaker } from '../model/snapshot.js';
import { type Elected, lastTerm, type Successor, type TransitionRecord } from '../model/znodes.js';
import type { Choice } from './choice-input.js';
import { checkCircuitBreaker } from './circuit-breaker.js';
import { isFallback } from './effective-decision.js';
import type { JudgedElection } from './election-input.js';
import { type FencingAction, stuckLeaderActions } from './fencing.js';
import { handoverOf } from './planned-change.js';
import { ended, readyRecord } from './records.js';
import { missesRequest } from './requests.js';
import { type ChangeSites, configChange, type DropRequest, ownFailures, upkeep } from './upkeep.js';

export interface PublishSuccessor {
  readonly do: 'publish-successor';
  readonly successor: Successor;
  /** Version of the published successor that was read. Null if none has been published yet. */
  readonly version: number | null;
  readonly electedVersion: number;
  readonly configVersion: number;
}

export type ElectorAction =
  | { readonly do: 'read-clock' }
  | {
      readonly do: 'write-elected';
      readonly elected: Elected;
      readonly configVersion: number;
      readonly electedVersion: number;
      readonly record: TransitionRecord | null;
      readonly headVersion: number | null;
      /**
       * New record of the circuit breaker, with the znode version that was read. Null if the record does not
       * change.
       */
      readonly circuitBreaker: CircuitBreaker | null;
    }
  /** The circuit breaker prevents the move, and the group waits for an operator. */
  | { readonly do: 'pause'; readonly reason: string; readonly configVersion: number }
  | { readonly do: 'record'; readonly record: TransitionRecord; readonly headVersion: number }
  | PublishSuccessor
  | ChangeSites
  | DropRequest
  /**
   * This node hands over the elector role. The handover is valid for as long as `configVersion` is the
   * current version of the configuration. If `configVersion` is null, the handover is only temporary, so that
   * another elector can act.
   */
  | { readonly do: 'give-up-seat'; readonly reason: string; readonly configVersion: number | null }
  | FencingAction;

export type Write = Extract<ElectorAction, { do: 'write-elected' }>;

/**
 * Returns the actions for a choice. These are a new decision, or the updates that are due while the current
 * decision remains in force. A new decision is due if the choice changes, or if `elected` must be repaired.
 */
export function actionsFor(election: JudgedElection, choice: Choice): ElectorAction[] {
  const { snapshot, elected, failed } = election;
  const isDue = choice.changes || isFallback(snapshot, elected);
  const decision = isDue ? nextDecision(election, choice) : null;
  const breaker = decision === null ? null : checkCircuitBreaker(election, decision);
  const configVersion = snapshot.config.version;
  const basis = { configVersion, electedVersion: snapshot.elected.version };
  if (decision !== null && breaker?.stops === false) {
    const record = ended(election, elected, { failed, next: choice.reason });
    const headVersion = record === null ? null : (snapshot.history?.version ?? null);
    const { circuitBreaker } = breaker;
    return [{ do: 'write-elected', elected: decision, ...basis, record, headVersion, circuitBreaker }];
  }
  const ready = readyRecord(election);
  const noted = ready === null ? upkeep(election, choice) : null;
  const change =
    breaker?.stops === true
      ? ({ do: 'pause', reason: breaker.reason, configVersion } as const)
      : configChange(election);
  const none = { record: null, headVersion: null, circuitBreaker: null };
  return [
    ...stuckLeaderActions(election),
    ...(ready === null ? [] : [{ do: 'record', ...ready } as const]),
    ...(noted === null ? [] : [{ do: 'write-elected', elected: noted, ...basis, ...none } as const]),
    ...(change === null ? [] : [change]),
  ];
}

/** Returns the new decision that the choice leads to. */
export function nextDecision(election: JudgedElection, choice: Choice): Elected {
  const { snapshot, members, config, strategy, self, elected, epochMs } = election;
  const member = members.find(({ node }) => node === choice.node)?.value ?? null;
  const carriesOutRequest = choice.requested !== null && choice.isReturn !== true;
  return {
    node: choice.node,
    site: member?.site ?? null,
    term: Math.min(elected.term + 1, lastTerm),
    strategy: strategy.name,
    reason: isFallback(snapshot, elected) ? `${elected.reason}; ${choice.reason}` : choice.reason,
    cause: choice.cause,
    by: self,
    previous: election.previous,
    priorities: member === null ? null : [sitePriority(config, member.site, epochMs), member.priority],
    requested: choice.requested,
    ...handoverOf(election, choice),
    failedSite: choice.failedSite,
    failures: ownFailures(election, choice),
    ...(!carriesOutRequest && missesRequest(config, elected) ? { missedRequest: true } : {}),
  };
}

/** Returns the text for an unchanged decision. */
export function remainsElectedText(node: string | null): string {
  return node === null ? 'still no node is elected' : `${node} remains elected`;
}
