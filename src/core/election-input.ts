/**
 * Input to one decision about a leader: the snapshot, the elector's memory, the time, and what is derived
 * from them. Each round builds a new input.
 */

import type { ReadyStrategy } from '../../strategies/registry.js';
import type { SwitchoverRequest } from '../model/group-config.js';
import { incarnationKey, readyNode } from '../model/snapshot.js';
import type { Elected, Place } from '../model/znodes.js';
import { type Failed, failureOf, settleFailures, withFailure } from './backoff.js';
import type { ChoiceInput } from './case.js';
import {
  type AnyConstraint,
  type ConstraintContext,
  constraintContextOf,
  type Judged,
} from './constraint.js';
import { needsReading } from './deadlines.js';
import { effectiveDecision } from './effective-decision.js';
import { type ElectorMemory, look, type Observation } from './elector-memory.js';
import { type Elsewhere, nowhereElse, withFailuresOfOthers } from './elsewhere.js';
import { type ClockReading, ensembleNowMs, isOutdated } from './ensemble-clock.js';
import { failedCandidate } from './failed-candidate.js';
import { previousLeader } from './records.js';
import { activeRequest } from './requests.js';
import type { SiteJudgement } from './site-rules.js';
import { betterForMs } from './stabilization.js';
import { overdueMs, type Watched } from './watchdog.js';

/**
 * Everything that the elector knows at the start of a round. `config` is the configuration on which decisions
 * are based. While the current configuration is unreadable, `config` is the last readable one.
 */
export interface ElectionInput extends Observation {
  readonly self: string;
  readonly strategy: ReadyStrategy;
  readonly memory: ElectorMemory;
  readonly clock: ClockReading | null;
  /** Whether a fence hook is configured on this node. */
  readonly canFence: boolean;
  /**
   * Earliest monotonic instant for which this node can tell whether the ensemble was available. The node's
   * unbroken contact with the ensemble began before that instant.
   */
  readonly observedSinceMs: number;
  readonly constraints: readonly AnyConstraint[];
  /**
   * Returns how the group's other leaderships affect this one, at an instant on the ensemble's clock. Missing
   * if there is no other leadership.
   */
  readonly elsewhere?: (epochMs: number) => Elsewhere;
}

/** An election input with the values that are derived from it. */
export interface Election extends Omit<ElectionInput, 'elsewhere' | 'clock'> {
  readonly clock: ClockReading;
  readonly elected: Elected;
  readonly failed: Failed | null;
  /** Whether the elected node has failed and no decision has responded to that failure yet. */
  readonly electedFailed: boolean;
  /** The requested switchover, if it is active. Otherwise null. */
  readonly request: SwitchoverRequest | null;
  /** The last node that was READY. Null if there has been none. */
  readonly previous: Place | null;
  /** Minutes of the day, in UTC, at which a decision may change. */
  readonly minutes: readonly number[];
  /** Current time on the ensemble's clock, in milliseconds since the epoch. */
  readonly epochMs: number;
  readonly elsewhere: Elsewhere;
  /** Context for constraints. Its failures are the current ones and the failure that is being acted on. */
  readonly context: ConstraintContext;
}

/** An election with the findings about every node and every site. */
export interface JudgedElection extends Election {
  /** Findings about each node, in order of node ids. */
  readonly judged: readonly Judged[];
  readonly sites: SiteJudgement;
}

/**
 * A step that is necessary before a decision is possible. `memory` is the elector's memory until that step is
 * done.
 */
export interface Pending {
  readonly pending: 'clock' | 'next-look';
  readonly memory: ElectorMemory;
}

/**
 * Derives an election from the input. Returns a pending step if nothing may be decided yet, for example
 * because there is no recent reading of the ensemble's clock.
 */
export function electionOf(input: ElectionInput): Election | Pending {
  const { snapshot, clock, nowMs } = input;
  const elected = effectiveDecision(snapshot);
  const memory = look(input, elected, input.memory);
  if (memory.progress?.isOrphaned === true && input.memory.progress?.isOrphaned !== true)
    return { pending: 'next-look', memory };
  const failed = failedCandidate(input, elected, memory);
  const minutes = minutesOf(input);
  if (clock === null || mustReadClock({ ...input, memory, elected, failed, minutes }, clock))
    return { pending: 'clock', memory };
  const epochMs = ensembleNowMs(clock, nowMs);
  const elsewhere = input.elsewhere?.(epochMs) ?? nowhereElse;
  const previous = previousLeader(snapshot, input.members);
  const request = activeRequest(input.config, elected);
  return blaming(
    { ...input, clock, memory, elected, request, epochMs, elsewhere, previous, minutes },
    failed,
  );
}

function mustReadClock(
  {
    config,
    memory,
    elected,
    failed,
    minutes,
    nowMs,
  }: Pick<Election, 'config' | 'memory' | 'elected' | 'failed' | 'minutes' | 'nowMs'>,
  clock: ClockReading,
): boolean {
  const isAgainst = failed !== null || memory.watched?.condition.kind === 'holding';
  return (
    needsReading(clock, { config, failures: elected.failures, minutes }, nowMs) ||
    (failed !== null && isOutdated(clock, nowMs)) ||
    (isAgainst && isStaleReading(memory.watched, clock, nowMs))
  );
}

function minutesOf({ strategy, constraints }: ElectionInput): readonly number[] {
  const { minutes = [] } = strategy;
  return [...minutes, ...constraints.flatMap((constraint) => constraint.minutes ?? [])];
}

/**
 * Whether a time limit has expired since the clock was last read. A server that is cut off from the other
 * servers may still answer, but it does not show the candidate's progress or the release of a claim. Reading
 * the clock is a write, and any data that is read afterwards is at least as recent as this write. Reading the
 * clock again therefore prevents the elector from blaming or fencing a node because of an outdated read.
 */
function isStaleReading(watched: Watched | null, clock: ClockReading, nowMs: number): boolean {
  if (watched === null) return false;
  const lateMs = overdueMs(watched, nowMs);
  return lateMs >= 0 && clock.atMs < nowMs - lateMs;
}

/**
 * Whether the elected node has failed and no decision has responded to that failure yet. If so, the slot has
 * no leader that can continue.
 */
export function awaitsSuccessor(input: ElectionInput): boolean {
  const elected = effectiveDecision(input.snapshot);
  const memory = look(input, elected, input.memory);
  return failedCandidate(input, elected, memory) !== null || failedBefore({ ...input, elected });
}

/**
 * Whether no decision has responded to the elected node's last failure yet. A decision that elects the node
 * again after a failure ends the node's backoff, so it counts as a response.
 */
function failedBefore({
  elected,
  snapshot,
  members,
}: Pick<Election, 'elected' | 'snapshot' | 'members'>): boolean {
  if (elected.node === null || readyNode(snapshot.current, members) === elected.node) return false;
  return failureOf(elected.failures, elected.node)?.until != null;
}

/**
 * Returns the election that responds to the failure `failed`. If `failed` is null, there is no failure to
 * respond to.
 */
export function blaming(
  election: Omit<Election, 'failed' | 'electedFailed' | 'context'>,
  failed: Failed | null,
): Election {
  const electedFailed = failed !== null || failedBefore(election);
  return { ...election, failed, electedFailed, context: constraintContextIn(election, failed) };
}

/**
 * Returns the context for constraints in an election that responds to the failure `failed`. If `failed` is
 * null, there is no failure to respond to.
 */
export function constraintContextIn(
  {
    snapshot,
    members,
    config,
    elected,
    elsewhere,
    epochMs,
  }: Pick<Election, 'snapshot' | 'members' | 'config' | 'elected' | 'elsewhere' | 'epochMs'>,
  failed: Failed | null = null,
): ConstraintContext {
  const own = settleFailures(elected, members, snapshot.current, config, epochMs);
  const settled = withFailuresOfOthers(own, elsewhere);
  const failures = failed === null ? settled : withFailure(settled, failed, config, epochMs);
  const { neighbour = null } = snapshot;
  return constraintContextOf({ config, failures, nowMs: epochMs, neighbour, elsewhere, elected });
}

/** Returns the input for the elector's choice. */
export function choiceInputOf(election: JudgedElection): ChoiceInput {
  const { snapshot, members, config, strategy, memory, elected, nowMs, epochMs } = election;
  const eligibleSinceMs = new Map(
    members.map((member) => [member.node, memory.eligibleSinceMs.get(incarnationKey(member))]),
  );
  return {
    config,
    strategy,
    elected,
    request: election.request,
    current: snapshot.current,
    previous: election.previous,
    members,
    failures: election.context.failures,
    nowMs: epochMs,
    electedFailed: election.electedFailed,
    eligibleForMs: (node) => nowMs - (eligibleSinceMs.get(node) ?? nowMs),
    betterForMs: (node) => betterForMs({ members, elected: elected.node, nowMs }, node, memory.betterSince),
    lookedForMs: nowMs - (memory.firstLookMs ?? nowMs),
    readyForMs: memory.ready === null ? null : nowMs - memory.ready.sinceMs,
    judged: election.judged,
    elsewhere: election.elsewhere,
  };
}
