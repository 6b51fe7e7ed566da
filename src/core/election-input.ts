/**
 * Input to one decision about a leader: the snapshot, the elector's memory, the time, and what is derived
 * from them. Each round builds a new input.
 */

import type { ReadyStrategy } from '../../strategies/registry.js';
import type { SwitchoverRequest } from '../model/group-config.js';
import type { Claim } from '../model/snapshot.js';
import type { Elected, FailureRecord, Place } from '../model/znodes.js';
import { currentFailures, type Failed } from './backoff.js';
import type { AnyConstraint, Findings, Judged } from './constraint.js';
import { mustReadClock } from './deadlines.js';
import { effectiveDecision, previousLeader } from './effective-decision.js';
import { type ElectorMemory, look } from './elector-memory.js';
import { type Elsewhere, nowhereElse } from './elsewhere.js';
import { type ClockReading, ensembleNowMs } from './ensemble-clock.js';
import { failedBefore, failedCandidate } from './failed-candidate.js';
import { judgeSites, type SiteJudgement } from './failed-sites.js';
import { activeRequest } from './requests.js';
import type { Observation } from './watchdog.js';

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
  readonly current: Claim | null;
  readonly failed: Failed | null;
  /** Whether the elected node has failed and no decision has responded to that failure yet. */
  readonly electedFailed: boolean;
  /** The requested switchover, if it is active. Otherwise null. */
  readonly request: SwitchoverRequest | null;
  /** The last node that was READY. Null if there has been none. */
  readonly previous: Place | null;
  /** Minutes of the day, in UTC, at which a decision may change. */
  readonly minutes: readonly number[];
  /** The sites that must be declared failed or healthy. */
  readonly sites: SiteJudgement;
  /** Current time on the ensemble's clock, in milliseconds since the epoch. */
  readonly epochMs: number;
  readonly elsewhere: Elsewhere;
  /** The current failures, and the failure that is being acted on. */
  readonly failures: readonly FailureRecord[];
}

/** An election with the findings about every node. */
export interface JudgedElection extends Election, Findings {
  /** Findings about each node, in order of node ids. */
  readonly judged: readonly Judged[];
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
  const { snapshot, members, config, clock, strategy, constraints, nowMs } = input;
  const elected = effectiveDecision(snapshot);
  const memory = look(input, elected, input.memory);
  if (memory.progress?.isOrphaned === true && input.memory.progress?.isOrphaned !== true)
    return { pending: 'next-look', memory };
  const failed = failedCandidate(input, elected, memory);
  const minutes = [strategy, ...constraints].flatMap((rule) => rule.minutes ?? []);
  const timed = { config, failures: elected.failures, minutes };
  if (clock === null || mustReadClock(clock, timed, { failed, watched: memory.watched }, nowMs))
    return { pending: 'clock', memory };
  const epochMs = ensembleNowMs(clock, nowMs);
  const elsewhere = input.elsewhere?.(epochMs) ?? nowhereElse;
  return {
    ...input,
    clock,
    memory,
    elected,
    failed,
    minutes,
    epochMs,
    elsewhere,
    current: snapshot.current,
    previous: previousLeader(snapshot, members),
    request: activeRequest(config, elected),
    sites: judgeSites(input, memory.sites?.counts ?? new Map()),
    electedFailed: failed !== null || failedBefore({ elected, snapshot, members }),
    failures: currentFailures({ ...input, elected, elsewhere, epochMs }, failed),
  };
}

/** Returns the election that responds to the failure `failed`. */
export function blaming(election: Election, failed: Failed): Election {
  return { ...election, failed, electedFailed: true, failures: currentFailures(election, failed) };
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
