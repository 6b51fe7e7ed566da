/**
 * The elector's round, which turns a snapshot into the elector's next writes and other actions. The elector
 * decides, but it need not lead. The elector's memory contains what it has observed and when each observation
 * started. The memory is a value that each round receives and returns.
 *
 *     input → constraints → ranking → choice → decision → successor
 *
 * Not promised: that the writes succeed. Each write names the versions that it is based on. If one of them
 * has changed, the write has no effect. The next round then bases its decision on the new state.
 */

import { durationMs } from '../model/duration.js';
import type { Member } from '../model/snapshot.js';
import { elect } from './choice.js';
import type { Choice } from './choice-input.js';
import { contextOf, eligibleSince, findingsOf, judgeAll } from './constraint.js';
import { nextInstantInMs } from './deadlines.js';
import { actionsFor, type ElectorAction } from './decision.js';
import {
  blaming,
  type Election,
  type ElectionInput,
  electionOf,
  type JudgedElection,
} from './election-input.js';
import { type ElectorMemory, longestWaitMs, waitsOf } from './elector-memory.js';
import { isExact } from './ensemble-clock.js';
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
  const election = electionOf(input);
  if (!('pending' in election)) return judgeLeaseLosses(election, decide(election));
  const { pending, memory } = election;
  return pending === 'clock' ? readClock(memory) : { actions: [], memory, recheckInMs: 1, choice: null };
}

function readClock(memory: ElectorMemory): ElectorRound {
  return { actions: [{ do: 'read-clock' }], memory, recheckInMs: null, choice: null };
}

/**
 * Decides about the leader. If the strategy or a constraint fails, this node hands over the elector role,
 * because another node may be able to run it.
 */
function decide(election: Election): ElectorRound {
  let { memory } = election;
  const { snapshot, members, constraints, elected, electedFailed, nowMs } = election;
  const context = contextOf(election);
  const judge = (among: readonly Member[]): JudgedElection => {
    const judged = judgeAll(among, constraints, context);
    return { ...election, members: among, judged, ...findingsOf(judged, elected, electedFailed) };
  };
  try {
    const found = judge(members);
    memory = { ...memory, eligibleSinceMs: eligibleSince(found.judged, memory.eligibleSinceMs, nowMs) };
    const waits = waitsOf(election, elected, memory);
    const choice = elect({ ...found, ...waits });
    const due = actionsFor(found, choice);
    const { publish, known } = publishSuccessor(election, due, (among) => {
      const other = judge(among);
      return { found: other, choice: elect({ ...other, ...waits }) };
    });
    const actions = publish === null ? due : [...due, publish];
    const isAlarm = actions.some((action) => action.do === 'alarm');
    const alarmed = isAlarm ? (snapshot.current?.token ?? null) : memory.alarmed;
    return {
      actions,
      memory: { ...memory, ...waitsBegun(election, choice), alarmed, successor: known },
      recheckInMs: untilNextRoundMs(election, choice),
      choice,
    };
  } catch (error) {
    if (!(error instanceof RuleFault)) throw error;
    const configVersion = snapshot.config.version;
    const actions = [{ do: 'give-up-seat', reason: error.message, configVersion } as const];
    return { actions, memory, recheckInMs: null, choice: null };
  }
}

/**
 * Returns the nodes that the choice found better than the leader, and the start of the wait for a first
 * election.
 */
function waitsBegun(election: Election, choice: Choice): Pick<ElectorMemory, 'betterSince' | 'firstLookMs'> {
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
 * Treats a leader that has lost its lease too often as failed, but only if another node then becomes the
 * leader. Without another leader, nothing would be gained. A node does not judge its own losses, because a
 * disconnected node cannot know their cause. Instead, it hands over the elector role to the next elector.
 */
function judgeLeaseLosses(election: Election, asItStands: ElectorRound): ElectorRound {
  const { members, current, elected, self, memory, clock, nowMs } = election;
  if (current === null || asItStands.choice?.changes !== false) return asItStands;
  const isOwn = elected.node === self;
  const observedSinceMs = isOwn ? Number.NEGATIVE_INFINITY : election.observedSinceMs;
  const failed = lostLeaseAgain({ ...election, current, observedSinceMs }, elected);
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
 * Returns the time until the next round: the shortest wait that has not ended yet. Returns null if there is
 * none. This round has already acted on waits that have ended.
 */
function untilNextRoundMs(election: Election, choice: Choice): number | null {
  const { memory, config, strategy, sites, minutes, epochMs, nowMs } = election;
  const { watched } = memory;
  const waits = [
    choice.recheckInMs,
    nextInstantInMs({ config, failures: choice.failures, minutes }, epochMs),
    sites.waitMs,
    watched === null ? null : untilOverdueMs(watched, nowMs),
    strategy.usesScores === true ? durationMs(config.stabilization.interval) : null,
  ];
  const ahead = waits.map((wait) => wait ?? 0).filter((wait) => wait > 0);
  return ahead.length === 0 ? null : Math.ceil(Math.min(...ahead, longestWaitMs));
}

/**
 * Returns the time until a condition is overdue. If it is already overdue, returns the longest wait, so that
 * the condition is checked again before the memory expires.
 */
function untilOverdueMs(watched: Watched, nowMs: number): number {
  const leftMs = -overdueMs(watched, nowMs);
  return leftMs > 0 ? leftMs : longestWaitMs;
}
