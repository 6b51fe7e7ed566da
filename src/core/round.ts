/**
 * The elector's round, which turns a snapshot into the elector's next writes and other actions. The elector
 * decides, but it need not lead. The elector's memory contains what it has observed and when each observation
 * started. The memory is a value that each round receives and returns.
 *
 *     input → constraints → ranking → choice → decision
 *
 * Not promised: that the writes succeed. Each write names the versions that it is based on. If one of them
 * has changed, the write has no effect. The next round then bases its decision on the new state.
 */

import { durationMs } from '../model/duration.js';
import type { Choice } from './case.js';
import { elect } from './choice.js';
import { eligibleSince, judgeAll } from './constraint.js';
import { nextDeadlineInMs } from './deadlines.js';
import { actionsFor, type ElectorAction } from './decision.js';
import {
  blaming,
  choiceInputOf,
  type Election,
  type ElectionInput,
  electionOf,
  type JudgedElection,
  type Pending,
} from './election-input.js';
import { type ElectorMemory, longestWaitMs } from './elector-memory.js';
import { isExact, nextMinuteInMs } from './ensemble-clock.js';
import { awaited } from './first-election.js';
import { lostLeaseAgain } from './lease-loss.js';
import { RuleFault } from './ranking.js';
import { updatedBetterSince } from './stabilization.js';
import { publishSuccessor } from './successor.js';
import { overdueMs, type Watched } from './watchdog.js';

export type { ElectorAction, Write } from './decision.js';
export { effectiveDecision } from './effective-decision.js';
export { awaitsSuccessor, type ElectionInput } from './election-input.js';
export { type ElectorMemory, type Fence, newElector } from './elector-memory.js';

export interface ElectorRound {
  readonly actions: readonly ElectorAction[];
  readonly memory: ElectorMemory;
  /**
   * Time after which the next round runs even if no event occurs. A whole number of milliseconds, never 0.
   * Null if no such round is needed.
   */
  readonly recheckInMs: number | null;
  /** The elector's choice, for display. Null if nothing could be decided. */
  readonly choice: Choice | null;
  /**
   * Whether the choice depends on what only this node has observed. Missing if it depends only on what every
   * node can read.
   */
  readonly isLocalEvidence?: boolean;
}

/**
 * Whether this round results in a decision that every elector would make. Decisions in favour of a better
 * node do not count: two nodes with different versions or memories may disagree forever about which node is
 * better. Decisions after lease losses do not count either: they are based on what one node saw of the
 * ensemble.
 */
export function isPlainlyDue({ actions, choice, isLocalEvidence = false }: ElectorRound): boolean {
  const isOpinion = isLocalEvidence || (choice?.changes === true && choice.cause === 'preference');
  return !isOpinion && actions.some(({ do: verb }) => verb === 'write-elected');
}

/**
 * Runs one round. Throws Unanswered if the answer from a strategy or a constraint is still pending. Handles
 * all other errors of strategies and constraints itself.
 */
export function electorRound(input: ElectionInput): ElectorRound {
  const model = electionOf(input);
  if ('pending' in model) return pendingRound(model);
  return judgeLeaseLosses(model, decide(model));
}

function pendingRound({ pending, memory }: Pending): ElectorRound {
  if (pending === 'clock') return readClock(memory);
  return { actions: [], memory, recheckInMs: 1, choice: null };
}

function readClock(memory: ElectorMemory): ElectorRound {
  return { actions: [{ do: 'read-clock' }], memory, recheckInMs: null, choice: null };
}

function decide(model: Election): ElectorRound {
  let { memory } = model;
  try {
    const judged = judgeAll(model.members, model.constraints, model.context);
    memory = { ...memory, eligibleSinceMs: eligibleSince(judged, memory.eligibleSinceMs, model.nowMs) };
    const election = { ...model, judged, memory };
    const choice = elect(choiceInputOf(election));
    const due = actionsFor(election, choice);
    const { publish, known } = publishSuccessor(election, due);
    const actions = publish === null ? due : [...due, publish];
    const remembering = { ...election, memory: { ...memory, successor: known } };
    return { ...afterwards(remembering, choice, actions), choice };
  } catch (error) {
    if (!(error instanceof RuleFault)) throw error;
    return givingUp({ ...model, memory }, error);
  }
}

/**
 * Returns a round that hands over the elector role, because another node may be able to run the strategy or
 * the constraint.
 */
function givingUp({ snapshot, memory }: Election, { message }: RuleFault): ElectorRound {
  const configVersion = snapshot.config.version;
  const actions = [{ do: 'give-up-seat', reason: message, configVersion } as const];
  return { actions, memory, recheckInMs: null, choice: null };
}

/** Returns the result of a round: its actions, the memory to keep, and the time until the next round. */
function afterwards(
  election: JudgedElection,
  choice: Choice,
  actions: readonly ElectorAction[],
): Omit<ElectorRound, 'choice'> {
  const { snapshot, config, memory, strategy, epochMs, nowMs } = election;
  const alarms = actions.some((action) => action.do === 'alarm');
  const alarmed = alarms ? (snapshot.current?.token ?? null) : memory.alarmed;
  return {
    actions,
    memory: { ...memory, ...waitsSeen(election, choice), alarmed },
    recheckInMs: soonest([
      choice.recheckInMs,
      nextDeadlineInMs(config, choice.failures, epochMs),
      nextMinuteInMs(election.minutes, epochMs),
      election.sites.waitMs,
      memory.watched === null ? null : untilOverdueMs(memory.watched, nowMs),
      strategy.usesScores === true ? durationMs(config.stabilization.interval) : null,
    ]),
  };
}

/**
 * Treats a leader that has lost its lease too often as failed, but only if another node then becomes the
 * leader. Without another leader, nothing would be gained. A node does not judge its own losses, because a
 * disconnected node cannot know their cause. Instead, it hands over the elector role to the next elector.
 */
function judgeLeaseLosses(election: Election, asItStands: ElectorRound): ElectorRound {
  const { snapshot, members, elected, self, memory, clock, nowMs } = election;
  const { current } = snapshot;
  if (current === null || asItStands.choice?.changes !== false) return asItStands;
  const isOwn = elected.node === self;
  const observed = {
    ...election,
    current,
    observedSinceMs: isOwn ? Number.NEGATIVE_INFINITY : election.observedSinceMs,
  };
  const failed = lostLeaseAgain(observed, elected);
  if (failed === null || memory.leftTo === current.token) return asItStands;
  const round = decide(blaming(election, failed));
  const node = round.choice?.node ?? null;
  if (node === null || node === elected.node) return asItStands;
  if (!isOwn) return isExact(clock, nowMs) ? { ...round, isLocalEvidence: true } : readClock(memory);
  if (!members.some((one) => one.seat !== null && one.node !== self)) return asItStands;
  const reason = `${failed.reason}; another elector must decide whether this node may continue to lead`;
  const actions = [{ do: 'give-up-seat', reason, configVersion: null } as const];
  return { ...asItStands, actions, memory: { ...asItStands.memory, leftTo: current.token } };
}

/**
 * Returns the nodes that the choice found better than the leader, and the start of the wait for a first
 * election.
 */
function waitsSeen(election: Election, choice: Choice): Pick<ElectorMemory, 'betterSince' | 'firstLookMs'> {
  const { members, strategy, memory, elected, nowMs } = election;
  const compared = { members, elected: elected.node, nowMs };
  const isAwaited = awaited(election, choice.ranking, 0) !== null;
  return {
    betterSince:
      strategy.usesScores === true ? updatedBetterSince(compared, choice.ranking, memory.betterSince) : null,
    firstLookMs: isAwaited ? (memory.firstLookMs ?? nowMs) : null,
  };
}

/**
 * Returns the time until a condition is overdue. If it is already overdue, returns the longest wait, so that
 * the condition is checked again before the memory expires.
 */
function untilOverdueMs(watched: Watched, nowMs: number): number {
  const leftMs = -overdueMs(watched, nowMs);
  return leftMs > 0 ? leftMs : longestWaitMs;
}

/**
 * Returns the shortest wait that has not ended yet, or null if there is none. This round has already acted on
 * waits that have ended.
 */
function soonest(waits: readonly (number | null)[]): number | null {
  const ahead = waits.map((wait) => wait ?? 0).filter((wait) => wait > 0);
  return ahead.length === 0 ? null : Math.ceil(Math.min(...ahead, longestWaitMs));
}
