/**
 * Computes the elector's choice in an operator's process. It uses the elector's own function, with the data
 * that this process has read.
 */
import type { ReadyStrategy, Rules } from '../../strategies/registry.js';
import { currentFailures, failureOf } from '../core/backoff.js';
import { elect } from '../core/choice.js';
import type { Choice, ChoiceInput } from '../core/choice-input.js';
import { type AnyConstraint, contextOf, findingsOf, type Judged, judgeAll } from '../core/constraint.js';
import { effectiveDecision, previousLeader } from '../core/effective-decision.js';
import { awaited } from '../core/first-election.js';
import { RuleFault } from '../core/ranking.js';
import { activeRequest } from '../core/requests.js';
import { stabilizationWindowMs } from '../core/stabilization.js';
import { PetrelError } from '../errors.js';
import { writeDuration } from '../model/duration.js';
import { failbackDelayMs, type GroupConfig } from '../model/group-config.js';
import {
  type NamedRules,
  type PreparedRules,
  prepareConstraints,
  prepareRules,
  usesScores,
} from '../model/read-config.js';
import { slotOf, slotStates, slotView } from '../model/slots.js';
import { type Claim, type GroupSnapshot, type Member, readyNode } from '../model/snapshot.js';
import { answered } from '../own-strategies/asker.js';
import { slotsInOrder, throughSlots } from '../slots/group-round.js';
import { elsewhereOf, slotInput } from '../slots/one-slot.js';
import { type GroupView, underRules } from './view.js';

export interface WhatIf {
  /** Nodes that are assumed to be absent. */
  readonly without?: readonly string[];
  /** Sites whose nodes are assumed to be absent. */
  readonly withoutSites?: readonly string[];
  /** Strategy to use instead of the group's strategy. */
  readonly strategy?: Pick<GroupConfig, 'strategy' | 'strategyOptions'>;
}

/**
 * Returns the choice at `nowMs` for the slot of `view`. `nowMs` is in milliseconds since the epoch, on the
 * ensemble's clock. Only the elector knows how long a node has been eligible. Every eligible node is
 * therefore assumed to have been eligible for long enough.
 *
 * Throws PetrelError INVALID if the configuration cannot be read or names a rule that this process does not
 * have. Throws PetrelError FAILED if the strategy cannot rank the nodes or a constraint fails. Throws
 * Unanswered if a rule must be queried first (see `withAnswers`).
 */
export function judge(view: GroupView, nowMs: number, whatIf: WhatIf = {}): Choice {
  const choice = judgeSlots(view, nowMs, whatIf).get(slotOf(view));
  if (choice === undefined) throw new PetrelError('INVALID', `slot ${slotOf(view)} does not exist`);
  return choice;
}

/**
 * Returns the choices for all slots, keyed by slot. The slots are processed in the elector's order, and each
 * choice takes the earlier choices into account. Throws whatever `judge` throws.
 */
export function judgeSlots(view: GroupView, nowMs: number, whatIf: WhatIf = {}): ReadonlyMap<number, Choice> {
  const whole = view.whole ?? view;
  const config = readableConfig(whole);
  const members = remaining(whole, whatIf);
  const { strategy, constraints } = rulesOf({ ...config, ...whatIf.strategy }, view.rules);
  const failed = slotStates(whole)
    .map(({ slot }) => slotView(whole, slot))
    .filter((snapshot) => isFailed(snapshot, members, whole.members))
    .map(slotOf);
  const order = slotsInOrder({ snapshot: whole, members, config, strategy, constraints }, nowMs, failed);
  return throughSlots(whole, order, (snapshot, _slot, reserved) => {
    const choice = chooseFor({ whole, snapshot, members, config, strategy, constraints, nowMs, reserved });
    const member = members.find(({ node }) => node === choice.node)?.value ?? null;
    const { node, changes } = choice;
    const decided = { ...effectiveDecision(snapshot), node, site: member?.site ?? null };
    return { result: choice, elected: changes ? decided : null, reserves: choice.reserves ?? null };
  });
}

/**
 * Runs `work`, which judges the group. Rules that run in another thread are queried as needed. See
 * `RuleAsker.answered`.
 */
export async function withAnswers<T>(view: GroupView, work: (view: GroupView) => T): Promise<T> {
  return await answered(view.rules, (rules) => work(underRules(view, rules)));
}

interface Question {
  readonly whole: GroupView;
  readonly snapshot: GroupSnapshot;
  readonly members: readonly Member[];
  readonly config: GroupConfig;
  readonly strategy: ReadyStrategy;
  readonly constraints: readonly AnyConstraint[];
  readonly nowMs: number;
  readonly reserved: ReadonlyMap<string, number>;
}

function chooseFor(question: Question): Choice {
  const { whole, strategy, constraints, nowMs, reserved } = question;
  const current = ownedBy(question.snapshot.current, question.members);
  const others = question.snapshot.others?.map((state) => ({
    ...state,
    current: ownedBy(state.current, question.members),
  }));
  const view = { ...question.snapshot, others };
  const { snapshot, members, config, elsewhere: elsewhereAt } = slotInput(view, { ...question, reserved });
  const elsewhere = elsewhereAt(nowMs);
  const elected = effectiveDecision(snapshot);
  const leads = readyNode(current, members) === elected.node;
  const input = { snapshot: { ...snapshot, current }, members, config, elected, elsewhere, epochMs: nowMs };
  const failures = currentFailures(input, null);
  try {
    const judged = judgeAll(members, constraints, contextOf({ ...input, failures }));
    const electedFailed = isFailed(snapshot, members, whole.members);
    const question: ChoiceInput = {
      config,
      strategy,
      elected,
      request: activeRequest(config, elected),
      current,
      previous: previousLeader(snapshot, whole.members),
      members,
      judged,
      ...findingsOf(judged, elected, electedFailed),
      failures,
      epochMs: nowMs,
      electedFailed,
      eligibleForMs: () => Number.POSITIVE_INFINITY,
      betterForMs: () => Number.POSITIVE_INFINITY,
      lookedForMs: Number.POSITIVE_INFINITY,
      readyForMs: leads && current !== null ? nowMs - current.modifiedAtMs : null,
      elsewhere,
    };
    const choice = elect(question);
    const wait = waitText(question, choice);
    return wait === null ? choice : { ...choice, reason: `${choice.reason}; ${wait}` };
  } catch (error) {
    if (!(error instanceof RuleFault)) throw error;
    throw new PetrelError('FAILED', error.message, { cause: error });
  }
}

/**
 * Whether the choice moves leadership to a better node, but the group delays the move. The delay ends when
 * the node has been eligible for long enough, or has been better for long enough.
 */
export function isPutOff({ changes, cause }: Choice, config: GroupConfig, rules: Rules): boolean {
  return isLongPutOff({ changes, cause }, config, usesScores(config, rules));
}

function isLongPutOff(
  { changes, cause }: Pick<Choice, 'changes' | 'cause'>,
  config: GroupConfig,
  isScored: boolean,
): boolean {
  const isLong = config.failback.startsWith('after:') || isScored;
  return changes && cause === 'preference' && isLong;
}

/** Describes a delay whose end only the elector knows. Null if there is no such delay. */
function waitText(question: ChoiceInput, choice: Choice): string | null {
  const { config, strategy } = question;
  if (choice.cause === 'first') return awaited(question, choice.ranking, 0)?.reason ?? null;
  if (!isLongPutOff(choice, config, strategy.usesScores === true)) return null;
  const counted = 'without interruption, as measured by the elector';
  if (strategy.usesScores !== true) {
    return `only after it has been eligible for ${config.failback.slice('after:'.length)} ${counted}`;
  }
  const holdMs = stabilizationWindowMs(config, failbackDelayMs(config) ?? 0);
  return `only after it has ranked higher for ${writeDuration(holdMs)} ${counted}`;
}

/**
 * Returns every node, with the reasons that keep it from leading at `nowMs`. Leaves out constraints that fail
 * or that this process does not have, because `judge` reports those. Throws Unanswered.
 */
export function judgeMembers(view: GroupView, config: GroupConfig, nowMs: number): readonly Judged[] {
  const { members } = view;
  const elected = effectiveDecision(view);
  const elsewhere = elsewhereOf({ snapshot: view, members, config, nowMs });
  const input = { snapshot: view, members, config, elected, elsewhere, epochMs: nowMs };
  const context = contextOf({ ...input, failures: currentFailures(input, null) });
  const { constraints } = prepareConstraints(config, view.rules);
  try {
    return judgeAll(members, constraints ?? view.rules.constraints, context);
  } catch (error) {
    if (!(error instanceof RuleFault)) throw error;
    return judgeAll(members, view.rules.constraints, context);
  }
}

/** Returns the configuration. Throws PetrelError INVALID if it cannot be read. */
export function readableConfig({ config, paths }: GroupView): GroupConfig {
  if (config.value !== null) return config.value;
  throw new PetrelError(
    'INVALID',
    `the group's configuration, ${paths.config}, cannot be read: ${config.problem}; repair it with petrel config edit`,
  );
}

function rulesOf(config: NamedRules, rules: Rules): Extract<PreparedRules, { problems: null }> {
  const prepared = prepareRules(config, rules);
  if (prepared.problems === null) return prepared;
  const { problems } = prepared;
  const message = `this machine cannot use the group's strategy or constraints: ${problems.join('; ')}`;
  throw new PetrelError('INVALID', message, { reasons: problems });
}

function remaining({ members }: GroupView, { without = [], withoutSites = [] }: WhatIf): Member[] {
  return members.filter(({ node, value }) => {
    return !without.includes(node) && !(value !== null && withoutSites.includes(value.site));
  });
}

/** Returns the claim, or null if its owner is assumed to be absent. */
function ownedBy(claim: Claim | null, members: readonly Member[]): Claim | null {
  return claim !== null && members.some(({ owner }) => owner === claim.owner) ? claim : null;
}

/**
 * Whether the elected node has failed and no longer leads. `left` contains the nodes that are not assumed to
 * be absent.
 */
function isFailed(snapshot: GroupSnapshot, left: readonly Member[], members: readonly Member[]): boolean {
  const elected = effectiveDecision(snapshot);
  const leader = readyNode(ownedBy(snapshot.current, left), left);
  if (elected.node === null || leader === elected.node) return false;
  const own = members.find(({ node }) => node === elected.node)?.value?.lastFailure;
  const isOfThis = own?.electedVersion === snapshot.elected.version && slotOf(own) === slotOf(snapshot);
  return isOfThis || failureOf(elected.failures, elected.node)?.until != null;
}
