/**
 * The elector's round: from a snapshot to what the elector should write, or do, next. The elector decides; it need
 * not lead. What it saw and since when is its memory: a value that goes in and comes out.
 *
 * Not promised: that the writes succeed. Each names the versions it was decided on, so one that comes too late
 * writes nothing, and the next round sees why.
 */

import type { ReadyStrategy } from '../../strategies/index.js';
import { type Failed, failureOf, recovered, settleFailures, withFailure } from './backoff.js';
import { brake } from './brake.js';
import { type ChangeSites, type DropRequest, dropMissedRequest, endOverrides } from './config-changes.js';
import {
  type Constraint,
  type Context,
  contextOf,
  type Judged,
  judge,
  judgeAll,
  ownObstacles,
} from './constraint.js';
import { durationMs } from './duration.js';
import { type Choice, elect, StrategyFault } from './elect.js';
import { type ElectorMemory, fitSince, longestWaitMs, look, type Scene } from './elector-memory.js';
import { type Elsewhere, nowhereElse, withFailuresOfOthers } from './elsewhere.js';
import { type ClockReading, ensembleNowMs, isExact, isOutdated, nextMinuteInMs } from './ensemble-clock.js';
import { failedCandidate } from './failed-candidate.js';
import { type FencingAction, heldTooLong } from './fencing.js';
import { awaited } from './first-election.js';
import { sitePriority } from './group-config.js';
import { lapsedAgain } from './lapse.js';
import { needsReading, nextLimitInMs } from './limits.js';
import { toInstant } from './names.js';
import { ended, previousLeader, reachedReady } from './records.js';
import { missesRequest } from './requests.js';
import { betterForMs, bettersSeen } from './resignation.js';
import { electedOrRestored, isRestored } from './restored.js';
import { judgeSites, type SiteJudgement } from './site-rules.js';
import { type Brake, type GroupSnapshot, lifeOf, readyNode } from './snapshot.js';
import { overdueMs, type Watched } from './watchdog.js';
import { type Elected, type FailureRecord, lastTerm, type TransitionRecord } from './znodes.js';

export { type ElectorMemory, type Fence, newElector } from './elector-memory.js';
export { electedOrRestored } from './restored.js';

export type ElectorAction =
  | { readonly do: 'read-clock' }
  | {
      readonly do: 'write-elected';
      readonly elected: Elected;
      readonly configVersion: number;
      readonly electedVersion: number;
      readonly record: TransitionRecord | null;
      readonly headVersion: number | null;
      /** What the group's brake is to have counted then, at the version that was read; null where that does not change. */
      readonly brake: Brake | null;
    }
  /** The brake holds: instead of moving, the group waits for a person. */
  | { readonly do: 'pause'; readonly reason: string; readonly configVersion: number }
  | { readonly do: 'record'; readonly record: TransitionRecord; readonly headVersion: number }
  | ChangeSites
  | DropRequest
  /** For good while this version of the configuration stands; null: for now, to let another judge. */
  | { readonly do: 'give-up-seat'; readonly reason: string; readonly configVersion: number | null }
  | FencingAction;

export type Write = Extract<ElectorAction, { do: 'write-elected' }>;

export interface ElectorRound {
  readonly actions: readonly ElectorAction[];
  readonly memory: ElectorMemory;
  /** Look again after so long even if nothing wakes; a whole number of milliseconds, never 0; null: no need. */
  readonly recheckInMs: number | null;
  /** What was chosen, for people; null when nothing could be decided. */
  readonly choice: Choice | null;
  /** The choice rests on what this node alone may have been a witness of; missing: on what all can read. */
  readonly isTestimony?: boolean;
}

/** `config` is the configuration to decide by: what was read, or, while that is unreadable, the last that was not. */
export interface ElectorSituation extends Scene {
  readonly self: string;
  readonly strategy: ReadyStrategy;
  readonly memory: ElectorMemory;
  readonly clock: ClockReading | null;
  /** A fence hook is configured here. */
  readonly canFence: boolean;
  /** Since when this node can tell whether the ensemble was there, monotonic: it has been in touch since before. */
  readonly witnessSinceMs: number;
  readonly constraints: readonly Constraint[];
  /** What other leaderships of the group mean for this one, at an instant on the ensemble's clock; missing: there is no other. */
  readonly elsewhere?: (epochMs: number) => Elsewhere;
}

/**
 * Whether a decision is missing on which nobody could think otherwise. That leadership might be better elsewhere is a
 * matter of opinion, on which two nodes, of two versions or with two memories, may differ for ever; whose fault a lapse was
 * is told by who was in touch.
 */
export function isPlainlyDue({ actions, choice, isTestimony = false }: ElectorRound): boolean {
  const isOpinion = isTestimony || (choice?.changes === true && choice.cause === 'preference');
  return !isOpinion && actions.some(({ do: verb }) => verb === 'write-elected');
}

/** One round. Of what a strategy does it throws only that it has yet to be asked: Unanswered. */
export function electorRound(situation: ElectorSituation): ElectorRound {
  const { snapshot, config, strategy, clock, nowMs } = situation;
  const { minutes = [] } = strategy;
  const elected = electedOrRestored(snapshot);
  const memory = look(situation, elected, situation.memory);
  const failed = failedCandidate(situation, elected, memory);
  if (memory.progress?.isOrphaned === true && situation.memory.progress?.isOrphaned !== true)
    return { actions: [], memory, recheckInMs: 1, choice: null };
  const isAgainst = failed !== null || memory.watched?.condition.kind === 'holding';
  if (
    clock === null ||
    needsReading(clock, { config, failures: elected.failures, minutes }, nowMs) ||
    (failed !== null && isOutdated(clock, nowMs)) ||
    (isAgainst && isHearsay(memory.watched, clock, nowMs))
  ) {
    return readClock(memory);
  }
  const epochMs = ensembleNowMs(clock, nowMs);
  const elsewhere = situation.elsewhere?.(epochMs) ?? nowhereElse;
  return judgeLapses({ ...situation, memory, elected, failed, epochMs, elsewhere }, clock);
}

/**
 * A server that has lost touch with the others goes on answering, and tells nothing of what its candidate does, nor of a
 * claim that was given up. To read the clock is to write: what is read after that is no older. So nobody is late, and nobody
 * is fenced, by what was read before.
 */
function isHearsay(watched: Watched | null, clock: ClockReading, nowMs: number): boolean {
  if (watched === null) return false;
  const lateMs = overdueMs(watched, nowMs);
  return lateMs >= 0 && clock.atMs < nowMs - lateMs;
}

/** A situation with what was made of it. */
interface Case extends Omit<ElectorSituation, 'elsewhere'> {
  readonly elected: Elected;
  readonly failed: Failed | null;
  /** Milliseconds since the epoch, on the ensemble's clock. */
  readonly epochMs: number;
  readonly elsewhere: Elsewhere;
}

/**
 * A leader that has lost its lease once too often has failed where that brings another to lead, and not otherwise: nobody
 * gains by waiting for it. Nobody judges himself, for who was out of touch cannot tell: he leaves that to the next in line.
 */
function judgeLapses(seen: Case, clock: ClockReading): ElectorRound {
  const { snapshot, members, elected, self, memory, nowMs } = seen;
  const asItStands = decide(seen);
  const { current } = snapshot;
  if (seen.failed !== null || current === null || asItStands.choice?.changes !== false) return asItStands;
  const isOwn = elected.node === self;
  const witness = {
    ...seen,
    current,
    witnessSinceMs: isOwn ? Number.NEGATIVE_INFINITY : seen.witnessSinceMs,
  };
  const failed = lapsedAgain(witness, elected);
  if (failed === null || memory.leftTo === current.token) return asItStands;
  const round = decide({ ...seen, failed });
  const { node = null, changes = false } = round.choice ?? {};
  if (!changes || node === null || node === elected.node) return asItStands;
  if (!isOwn) return isExact(clock, nowMs) ? { ...round, isTestimony: true } : readClock(memory);
  if (!members.some((one) => one.seat !== null && one.node !== self)) return asItStands;
  const reason = `${failed.reason}; whether this node is to lead on is left to another to judge`;
  const actions = [{ do: 'give-up-seat', reason, configVersion: null } as const];
  return { ...asItStands, actions, memory: { ...asItStands.memory, leftTo: current.token } };
}

function readClock(memory: ElectorMemory): ElectorRound {
  return { actions: [{ do: 'read-clock' }], memory, recheckInMs: null, choice: null };
}

function decide(seen: Case): ElectorRound {
  const { snapshot, members, config, nowMs, epochMs, failed, elsewhere } = seen;
  const own = settleFailures(seen.elected, members, snapshot.current, config, epochMs);
  const settled = withFailuresOfOthers(own, elsewhere);
  const failures = failed === null ? settled : withFailure(settled, failed, config, epochMs);
  const judged = judgeAll(members, seen.constraints, contextIn(seen, failures));
  const memory = { ...seen.memory, fitSinceMs: fitSince(judged, seen.memory.fitSinceMs, nowMs) };
  let choice: Choice;
  try {
    choice = choose({ ...seen, memory }, judged, failures);
  } catch (error) {
    if (!(error instanceof StrategyFault)) throw error;
    const configVersion = snapshot.config.version;
    const actions = [{ do: 'give-up-seat', reason: error.message, configVersion } as const];
    return { actions, memory, recheckInMs: null, choice: null };
  }
  const actions = actionsFor({ ...seen, memory }, choice);
  const alarms = actions.some((action) => action.do === 'alarm');
  const alarmed = alarms ? (snapshot.current?.token ?? null) : memory.alarmed;
  return {
    actions,
    memory: { ...memory, ...waitsSeen({ ...seen, memory }, choice), alarmed },
    recheckInMs: soonest([
      choice.recheckInMs,
      nextLimitInMs(config, choice.failures, epochMs),
      nextMinuteInMs(seen.strategy.minutes ?? [], epochMs),
      siteVerdicts({ ...seen, memory }).waitMs,
      memory.watched === null ? null : untilOverdueMs(memory.watched, nowMs),
      seen.strategy.usesScores === true ? durationMs(config.resignation.every) : null,
    ]),
    choice,
  };
}

/** What a choice tells of who is better, and of whether it was waited with. */
function waitsSeen(seen: Case, choice: Choice): Pick<ElectorMemory, 'betters' | 'firstLookMs'> {
  const { snapshot, members, strategy, memory, elected, nowMs } = seen;
  const compared = { members, elected: elected.node, nowMs };
  const isAwaited =
    awaited({ ...seen, previous: previousLeader(snapshot, members) }, choice.ranking, 0) !== null;
  return {
    betters: strategy.usesScores === true ? bettersSeen(compared, choice.ranking, memory.betters) : null,
    firstLookMs: isAwaited ? (memory.firstLookMs ?? nowMs) : null,
  };
}

function contextIn(
  { snapshot, config, elected, elsewhere, epochMs }: Case,
  failures: readonly FailureRecord[],
): Context {
  const { neighbour = null } = snapshot;
  return contextOf({ config, failures, nowMs: epochMs, neighbour, elsewhere, elected });
}

function choose(seen: Case, judged: readonly Judged[], failures: readonly FailureRecord[]): Choice {
  const { snapshot, members, config, strategy, memory, elected, failed, nowMs, epochMs } = seen;
  const lives = new Map(members.map((member) => [member.node, lifeOf(member)]));
  return elect({
    config,
    strategy,
    elected,
    current: snapshot.current,
    previous: previousLeader(snapshot, members),
    members,
    failures,
    nowMs: epochMs,
    electedFailed: failed !== null || failedBefore(seen),
    fitForMs: (node) => nowMs - (memory.fitSinceMs.get(lives.get(node) ?? '') ?? nowMs),
    betterForMs: (node) => betterForMs({ members, elected: elected.node, nowMs }, node, memory.betters),
    lookedForMs: nowMs - (memory.firstLookMs ?? nowMs),
    readyForMs: memory.ready === null ? null : nowMs - memory.ready.sinceMs,
    judged,
    elsewhere: seen.elsewhere,
  });
}

/** Whether the elected node has failed, and no decision has answered that: nobody leads who could go on. */
export function awaitsSuccessor(situation: ElectorSituation): boolean {
  const elected = electedOrRestored(situation.snapshot);
  const memory = look(situation, elected, situation.memory);
  return failedCandidate(situation, elected, memory) !== null || failedBefore({ ...situation, elected });
}

/** The elected node's last failure still stands, unanswered: the version that records it names the node again only
 * with the exclusion lifted. */
function failedBefore({
  elected,
  snapshot,
  members,
}: Pick<Case, 'elected' | 'snapshot' | 'members'>): boolean {
  if (elected.node === null || readyNode(snapshot.current, members) === elected.node) return false;
  return failureOf(elected.failures, elected.node)?.until != null;
}

function actionsFor(seen: Case, choice: Choice): ElectorAction[] {
  const decision = decisionWrite(seen, choice);
  const made = decision === null ? null : braked(seen, decision);
  if (made?.do === 'write-elected') return [made];
  const record = recordOfReady(seen);
  const upkeep = record === null ? upkeepWrite(seen, choice) : null;
  const change = dropMissedRequest(seen) ?? endOverrides(seen) ?? declareSites(seen);
  const rest = [record, upkeep, made ?? change].filter((action) => action !== null);
  return [...heldTooLong(seen), ...rest];
}

/** The decision with what the brake counts of it, or the pause that the brake puts in its place. */
function braked({ snapshot, config, epochMs }: Case, decision: Write): ElectorAction {
  if (snapshot.brake == null) return decision;
  const made = brake(snapshot.brake, config, decision.elected, epochMs);
  const { configVersion } = decision;
  if (made.stops) return { do: 'pause', reason: made.reason, configVersion };
  return {
    ...decision,
    brake: made.record === null ? null : { ...snapshot.brake, record: made.record },
  };
}

/** A new decision, under a new term: another choice, or whatever repairs an unreadable one. */
function decisionWrite(seen: Case, choice: Choice): Write | null {
  const { snapshot, members, config, strategy, self, elected, failed, epochMs } = seen;
  const isRepair = isRestored(snapshot, elected);
  if (!choice.changes && !isRepair) return null;
  const member = members.find(({ node }) => node === choice.node)?.value ?? null;
  const record = ended(seen, elected, { failed, next: choice.reason });
  const next: Elected = {
    node: choice.node,
    site: member?.site ?? null,
    term: Math.min(elected.term + 1, lastTerm),
    strategy: strategy.name,
    reason: isRepair ? `${elected.reason}; ${choice.reason}` : choice.reason,
    cause: choice.cause,
    by: self,
    previous: previousLeader(snapshot, members),
    priorities: member === null ? null : [sitePriority(config, member.site, epochMs), member.priority],
    asked: choice.asked,
    failedSite: choice.failedSite,
    failures: ownFailures(seen, choice),
    ...missedRequest(seen, choice),
  };
  return electedWrite(snapshot, next, record);
}

function missedRequest(seen: Case, { asked }: Choice): Pick<Elected, 'missedRequest'> {
  return asked === null && missesRequest(seen.config, seen.elected) ? { missedRequest: true } : {};
}

/** The decision stands, and something in it is to be noted: a failure, or what is over. */
function upkeepWrite(seen: Case, choice: Choice): Write | null {
  const { snapshot, members, elected, failed } = seen;
  const leader = recovered(elected, snapshot.current, members);
  const isForgiven = leader !== null && failureOf(elected.failures, leader) !== null;
  const elsewhere = seen.memory.progress === null ? [...seen.elsewhere.ready] : [];
  const isOver = elsewhere.some((node) => failureOf(elected.failures, node) !== null);
  // Not during a takeover: that its claim vanishes is known by the decision that it was made under.
  const asked = seen.memory.progress === null ? stillWaived(seen) : elected.asked;
  if (failed === null && !isForgiven && !isOver && asked === elected.asked) return null;
  return electedWrite(snapshot, { ...elected, asked, failures: ownFailures(seen, choice) }, null);
}

/** Those that other slots keep are theirs. */
function ownFailures({ elsewhere }: Case, { failures }: Choice): FailureRecord[] {
  return failures.filter((record) => !elsewhere.failures.includes(record));
}

/** What a forced failover overrode counts again once it has ended. */
function stillWaived(seen: Case): Elected['asked'] {
  const { asked, node } = seen.elected;
  const member = seen.members.find((other) => other.node === node);
  if (asked === null || member === undefined) return asked;
  const found = ownObstacles(judge(member, seen.constraints, contextIn(seen, []))).map(({ kind }) => kind);
  const waived = asked.waived.filter((kind) => found.includes(kind));
  return waived.length === asked.waived.length ? asked : { ...asked, waived };
}

function electedWrite(snapshot: GroupSnapshot, elected: Elected, record: TransitionRecord | null): Write {
  return {
    do: 'write-elected',
    elected,
    configVersion: snapshot.config.version,
    electedVersion: snapshot.elected.version,
    record,
    headVersion: record === null ? null : (snapshot.history?.version ?? null),
    brake: null,
  };
}

function recordOfReady(seen: Case): Extract<ElectorAction, { do: 'record' }> | null {
  const { snapshot, elected, memory } = seen;
  const { current, history } = snapshot;
  const isReady = current?.value?.status === 'READY' && current.value.term === elected.term;
  if (!isReady || memory.watched !== null || history === null) return null;
  const record = reachedReady(seen, elected, current);
  return record === null ? null : { do: 'record', record, headVersion: history.version };
}

function siteVerdicts(seen: Case): SiteJudgement {
  return judgeSites(seen, seen.memory.sites?.counts ?? new Map());
}

/** One site at a time: each change is told with its own reason. */
function declareSites(seen: Case): ChangeSites | null {
  const { snapshot, epochMs, self } = seen;
  const [verdict] = snapshot.config.value === null ? [] : siteVerdicts(seen).verdicts;
  if (verdict === undefined) return null;
  const { site, isFailed, reason } = verdict;
  const failed = { byRule: true, by: self, reason, at: toInstant(epochMs) };
  return {
    do: 'change-sites',
    changes: [{ site, settings: { failed: isFailed ? failed : null } }],
    what: isFailed ? `site ${site} counts as failed` : `site ${site} counts as whole again`,
    reason,
    configVersion: snapshot.config.version,
  };
}

/** What is overdue and still stands is looked at again, so that it is not forgotten. */
function untilOverdueMs(watched: Watched, nowMs: number): number {
  const leftMs = -overdueMs(watched, nowMs);
  return leftMs > 0 ? leftMs : longestWaitMs;
}

/** The shortest of the waits that are still to come; one that has passed was acted on in this round. */
function soonest(waits: readonly (number | null)[]): number | null {
  const ahead = waits.filter((wait) => wait !== null).filter((wait) => wait > 0);
  return ahead.length === 0 ? null : Math.ceil(Math.min(...ahead, longestWaitMs));
}
