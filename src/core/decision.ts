/** Turns a choice into the writes and other actions that the elector should carry out. */

import { sitePriority } from '../model/group-config.js';
import { toInstant } from '../model/names.js';
import type { CircuitBreaker, GroupSnapshot } from '../model/snapshot.js';
import {
  type Elected,
  type FailureRecord,
  lastTerm,
  type Successor,
  type TransitionRecord,
} from '../model/znodes.js';
import { failureOf, recovered } from './backoff.js';
import type { Choice } from './case.js';
import { circuitBreaker } from './circuit-breaker.js';
import { type ChangeSites, type DropRequest, dropMissedRequest, endOverrides } from './config-changes.js';
import { stillOverridden } from './constraint.js';
import { isFallback } from './effective-decision.js';
import type { JudgedElection } from './election-input.js';
import { type FencingAction, stuckLeaderActions } from './fencing.js';
import { handoverOf } from './planned-change.js';
import { ended, reachedReady } from './records.js';
import { missesRequest } from './requests.js';

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
 * decision remains in force.
 */
export function actionsFor(election: JudgedElection, choice: Choice): ElectorAction[] {
  const decision = decisionWrite(election, choice);
  const made = decision === null ? null : withCircuitBreaker(election, decision);
  if (made?.do === 'write-elected') return [made];
  const record = recordOfReady(election);
  const upkeep = record === null ? upkeepWrite(election, choice) : null;
  const change = dropMissedRequest(election) ?? endOverrides(election) ?? declareSites(election);
  const rest = [record, upkeep, made ?? change].filter((action) => action !== null);
  return [...stuckLeaderActions(election), ...rest];
}

/** Returns the decision with the circuit breaker's record, or the pause that replaces the decision. */
function withCircuitBreaker({ snapshot, config, epochMs }: JudgedElection, decision: Write): ElectorAction {
  if (snapshot.circuitBreaker == null) return decision;
  const made = circuitBreaker(snapshot.circuitBreaker, config, decision.elected, epochMs);
  const { configVersion } = decision;
  if (made.stops) return { do: 'pause', reason: made.reason, configVersion };
  return {
    ...decision,
    circuitBreaker: made.record === null ? null : { ...snapshot.circuitBreaker, record: made.record },
  };
}

/**
 * Returns a write with a new decision under a new term if the choice has changed or `elected` must be
 * repaired. Otherwise returns null.
 */
function decisionWrite(election: JudgedElection, choice: Choice): Write | null {
  const { snapshot, elected, failed } = election;
  if (!choice.changes && !isFallback(snapshot, elected)) return null;
  const record = ended(election, elected, { failed, next: choice.reason });
  return electedWrite(snapshot, nextDecision(election, choice), record);
}

/** Returns the new decision that the choice leads to. */
export function nextDecision(election: JudgedElection, choice: Choice): Elected {
  const { snapshot, members, config, strategy, self, elected, epochMs } = election;
  const isRepair = isFallback(snapshot, elected);
  const member = members.find(({ node }) => node === choice.node)?.value ?? null;
  return {
    node: choice.node,
    site: member?.site ?? null,
    term: Math.min(elected.term + 1, lastTerm),
    strategy: strategy.name,
    reason: isRepair ? `${elected.reason}; ${choice.reason}` : choice.reason,
    cause: choice.cause,
    by: self,
    previous: election.previous,
    priorities: member === null ? null : [sitePriority(config, member.site, epochMs), member.priority],
    requested: choice.requested,
    ...handoverOf(election, choice),
    failedSite: choice.failedSite,
    failures: ownFailures(election, choice),
    ...missedRequest(election, choice),
  };
}

function missedRequest(
  election: JudgedElection,
  { requested, isReturn }: Choice,
): Pick<Elected, 'missedRequest'> {
  return (requested === null || isReturn === true) && missesRequest(election.config, election.elected)
    ? { missedRequest: true }
    : {};
}

/**
 * Returns a write that keeps the decision but notes a failure in it or removes notes that no longer apply.
 * Returns null if there is nothing to write.
 */
function upkeepWrite(election: JudgedElection, choice: Choice): Write | null {
  const { snapshot, members, elected, failed } = election;
  const leader = recovered(elected, snapshot.current, members);
  const isRecovered = failureOf(elected.failures, leader) !== null;
  // Do not remove notes during a takeover. The elector can recognize a vanished claim only while the claim's
  // decision is unchanged.
  const mayRemove = election.memory.progress === null;
  const ready = [...election.elsewhere.ready];
  const isOver = mayRemove && ready.some((node) => failureOf(elected.failures, node) !== null);
  const requested = mayRemove ? stillOverridden(elected, election.judged) : elected.requested;
  if (failed === null && !isRecovered && !isOver && requested === elected.requested) return null;
  return electedWrite(snapshot, { ...elected, requested, failures: ownFailures(election, choice) }, null);
}

/** Returns the failures, except for those that other slots record. */
function ownFailures({ elsewhere }: JudgedElection, { failures }: Choice): FailureRecord[] {
  return failures.filter((record) => !elsewhere.failures.includes(record));
}

function electedWrite(snapshot: GroupSnapshot, elected: Elected, record: TransitionRecord | null): Write {
  return {
    do: 'write-elected',
    elected,
    configVersion: snapshot.config.version,
    electedVersion: snapshot.elected.version,
    record,
    headVersion: record === null ? null : (snapshot.history?.version ?? null),
    circuitBreaker: null,
  };
}

function recordOfReady(election: JudgedElection): Extract<ElectorAction, { do: 'record' }> | null {
  const { snapshot, elected, memory } = election;
  const { current, history } = snapshot;
  const isReady = current?.value?.status === 'READY' && current.value.term === elected.term;
  if (!isReady || memory.watched !== null || history === null) return null;
  const record = reachedReady(election, elected, current);
  return record === null ? null : { do: 'record', record, headVersion: history.version };
}

/** Declares one site failed or healthy per call, so that each change is reported with its own reason. */
function declareSites(election: JudgedElection): ChangeSites | null {
  const { snapshot, epochMs, self, sites } = election;
  const [verdict] = snapshot.config.value === null ? [] : sites.verdicts;
  if (verdict === undefined) return null;
  const { site, isFailed, reason } = verdict;
  const failed = { byRule: true, by: self, reason, at: toInstant(epochMs) };
  return {
    do: 'change-sites',
    changes: [{ site, settings: { failed: isFailed ? failed : null } }],
    what: isFailed ? `site ${site}: marked failed` : `site ${site}: marked healthy`,
    reason,
    configVersion: snapshot.config.version,
  };
}

/** Returns the text for an unchanged decision. */
export function remainsElectedText(node: string | null): string {
  return node === null ? 'still no node is elected' : `${node} remains elected`;
}
