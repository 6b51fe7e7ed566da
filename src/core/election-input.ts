/**
 * What one decision about a leader goes by: what was read, what the elector saw before, the time, and what
 * follows from these. Made anew for each round.
 */

import type { ReadyStrategy } from '../../strategies/registry.js';
import { present } from '../errors.js';
import { incarnationKey, readyNode } from '../model/snapshot.js';
import type { Elected } from '../model/znodes.js';
import { type Failed, failureOf, settleFailures, withFailure } from './backoff.js';
import type { ChoiceInput } from './choice.js';
import {
  type AnyConstraint,
  type ConstraintContext,
  constraintContextOf,
  type Judged,
} from './constraint.js';
import { needsReading } from './deadlines.js';
import { effectiveDecision } from './effective-decision.js';
import { type ElectorMemory, look, type Scene } from './elector-memory.js';
import { type Elsewhere, nowhereElse, withFailuresOfOthers } from './elsewhere.js';
import { type ClockReading, ensembleNowMs, isOutdated } from './ensemble-clock.js';
import { failedCandidate } from './failed-candidate.js';
import { previousLeader } from './records.js';
import { betterForMs } from './stabilization.js';
import { overdueMs, type Watched } from './watchdog.js';

/**
 * `config` is the configuration to decide by: what was read, or, while that is unreadable, the last that was
 * not.
 */
export interface ElectionInput extends Scene {
  readonly self: string;
  readonly strategy: ReadyStrategy;
  readonly memory: ElectorMemory;
  readonly clock: ClockReading | null;
  /** A fence hook is configured here. */
  readonly canFence: boolean;
  /**
   * Since when this node can tell whether the ensemble was there, monotonic: it has been in touch since
   * before.
   */
  readonly observedSinceMs: number;
  readonly constraints: readonly AnyConstraint[];
  /**
   * What other leaderships of the group mean for this one, at an instant on the ensemble's clock; missing:
   * there is no other.
   */
  readonly elsewhere?: (epochMs: number) => Elsewhere;
}

/** A situation with what was made of it. */
export interface Election extends Omit<ElectionInput, 'elsewhere'> {
  readonly elected: Elected;
  readonly failed: Failed | null;
  /** Milliseconds since the epoch, on the ensemble's clock. */
  readonly epochMs: number;
  readonly elsewhere: Elsewhere;
  /** What constraints go by; its failures are those that stand, with the one that is being acted on. */
  readonly context: ConstraintContext;
}

/** The same, and what was found about everyone. */
export interface JudgedElection extends Election {
  /** In order of node ids. */
  readonly judged: readonly Judged[];
}

/** What is to be done before anything can be decided; `memory` is kept meanwhile. */
export interface Pending {
  readonly pending: 'clock' | 'next-look';
  readonly memory: ElectorMemory;
}

/** Without a reading of the ensemble's clock that is new enough nothing is decided. */
export function electionOf(input: ElectionInput): Election | Pending {
  const { snapshot, clock, nowMs } = input;
  const elected = effectiveDecision(snapshot);
  const memory = look(input, elected, input.memory);
  if (memory.progress?.isOrphaned === true && input.memory.progress?.isOrphaned !== true)
    return { pending: 'next-look', memory };
  const failed = failedCandidate(input, elected, memory);
  if (clock === null || mustReadClock({ ...input, memory, elected, failed }, clock))
    return { pending: 'clock', memory };
  const epochMs = ensembleNowMs(clock, nowMs);
  const elsewhere = input.elsewhere?.(epochMs) ?? nowhereElse;
  return blaming({ ...input, memory, elected, epochMs, elsewhere }, failed);
}

function mustReadClock(
  {
    config,
    strategy,
    constraints,
    memory,
    elected,
    failed,
    nowMs,
  }: Pick<Election, 'config' | 'strategy' | 'constraints' | 'memory' | 'elected' | 'failed' | 'nowMs'>,
  clock: ClockReading,
): boolean {
  const minutes = minutesOf({ strategy, constraints });
  const isAgainst = failed !== null || memory.watched?.condition.kind === 'holding';
  return (
    needsReading(clock, { config, failures: elected.failures, minutes }, nowMs) ||
    (failed !== null && isOutdated(clock, nowMs)) ||
    (isAgainst && isStaleReading(memory.watched, clock, nowMs))
  );
}

/** Minutes of the day at which a decision may begin to be another. */
export function minutesOf({
  strategy,
  constraints,
}: Pick<ElectionInput, 'strategy' | 'constraints'>): readonly number[] {
  const { minutes = [] } = strategy;
  return [...minutes, ...constraints.flatMap((constraint) => constraint.minutes ?? [])];
}

/**
 * A server that has lost touch with the others goes on answering, and tells nothing of what its candidate
 * does, nor of a claim that was given up. To read the clock is to write: what is read after that is no older.
 * So nobody is late, and nobody is fenced, by what was read before.
 */
function isStaleReading(watched: Watched | null, clock: ClockReading, nowMs: number): boolean {
  if (watched === null) return false;
  const lateMs = overdueMs(watched, nowMs);
  return lateMs >= 0 && clock.atMs < nowMs - lateMs;
}

/** Whether the elected node has failed, and no decision has answered that: nobody leads who could go on. */
export function awaitsSuccessor(input: ElectionInput): boolean {
  const elected = effectiveDecision(input.snapshot);
  const memory = look(input, elected, input.memory);
  return failedCandidate(input, elected, memory) !== null || failedBefore({ ...input, elected });
}

/**
 * The elected node's last failure still stands, unanswered: the version that records it names the node again
 * only with the backoff lifted.
 */
function failedBefore({
  elected,
  snapshot,
  members,
}: Pick<Election, 'elected' | 'snapshot' | 'members'>): boolean {
  if (elected.node === null || readyNode(snapshot.current, members) === elected.node) return false;
  return failureOf(elected.failures, elected.node)?.until != null;
}

/** The same, with this failure acted on; null: with none. */
export function blaming(seen: Omit<Election, 'failed' | 'context'>, failed: Failed | null): Election {
  return { ...seen, failed, context: constraintContextIn(seen, failed) };
}

/** What constraints go by, with this failure acted on; null: with none. */
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

/** What the elector's choice goes by. */
export function choiceInputOf(seen: JudgedElection): ChoiceInput {
  const { snapshot, members, config, strategy, memory, elected, failed, nowMs, epochMs } = seen;
  const lives = new Map(members.map((member) => [member.node, incarnationKey(member)]));
  const eligibleSinceMs = (node: string) =>
    memory.eligibleSinceMs.get(present(lives.get(node), `the member ${node}`)) ?? nowMs;
  return {
    config,
    strategy,
    elected,
    current: snapshot.current,
    previous: previousLeader(snapshot, members),
    members,
    failures: seen.context.failures,
    nowMs: epochMs,
    electedFailed: failed !== null || failedBefore(seen),
    eligibleForMs: (node) => nowMs - eligibleSinceMs(node),
    betterForMs: (node) => betterForMs({ members, elected: elected.node, nowMs }, node, memory.betterSince),
    lookedForMs: nowMs - (memory.firstLookMs ?? nowMs),
    readyForMs: memory.ready === null ? null : nowMs - memory.ready.sinceMs,
    judged: seen.judged,
    elsewhere: seen.elsewhere,
  };
}
