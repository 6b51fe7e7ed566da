/**
 * Waits for the effect of a change on the group. Watches trigger most checks, and every check reads the group
 * again.
 *
 * Not promised: that the outcome lasts. It was true at one instant, and may have changed since then.
 */

import * as z from 'zod';
import { remainsElectedText } from '../core/decision.js';
import { effectiveDecision } from '../core/effective-decision.js';
import { type ClockReading, ensembleNowMs } from '../core/ensemble-clock.js';
import { PetrelError } from '../errors.js';
import { durationMs } from '../model/duration.js';
import { defaultGroupConfig } from '../model/group-config.js';
import { nameSchema } from '../model/names.js';
import { namedSlot } from '../model/slots.js';
import { claimOwner } from '../model/snapshot.js';
import { type TransitionRecord, transitionRecordSchema } from '../model/znodes.js';
import { isStoreError, type Store } from '../ports/store.js';
import { recordOfTerm } from '../tree/records.js';
import type { GroupAccess } from './config-write.js';
import { follow } from './follow.js';
import { isPutOff, judge, readableConfig, withAnswers } from './judge.js';
import { hasSlot, viewOfSlot, viewsOfSlots } from './slot-view.js';
import type { TermQuery } from './term.js';
import { readOrEstimateClock } from './time.js';
import { transitionOf, transitionText } from './transition.js';
import type { GroupView } from './view.js';

export const outcomeSchema = z.object({
  /**
   * READY: a leader is READY. FAILED: the term ended without a READY leader. SUPERSEDED: a later term began
   * before this one was READY. NOBODY: no node is eligible.
   */
  state: z.enum(['READY', 'FAILED', 'SUPERSEDED', 'NOBODY']),
  term: z.int(),
  /** The node that leads, or was elected to lead. Null if there is none. */
  node: nameSchema.nullable(),
  reason: z.string(),
  /** Record of the term in the history. Null if there is none. */
  record: transitionRecordSchema.nullable(),
});
export type Outcome = z.infer<typeof outcomeSchema>;

export interface WaitOptions {
  /**
   * Longest time to wait. Default: the sum of the group's time limits for the phases of a transition, plus a
   * margin.
   */
  readonly timeoutMs?: number;
  /** Called whenever the reason for waiting changes, with one line that describes the new reason. */
  readonly onProgress?: (line: string) => void;
  readonly signal?: AbortSignal;
}

export interface TermOptions extends WaitOptions {
  /** The slot of the term. Default: the first slot. */
  readonly slot?: number;
}

/**
 * Returns an outcome, or null while there is none. `nowMs` is in milliseconds since the epoch, on the
 * ensemble's clock.
 */
type Goal = (view: GroupView, nowMs: number) => Promise<Outcome | null>;

/**
 * Waits until `term` is READY, has failed or has been superseded. Throws PetrelError UNDER_WAY on timeout.
 * Also throws StoreError.
 */
export function awaitTerm(access: GroupAccess, term: number, options: TermOptions = {}): Promise<Outcome> {
  const { store, paths } = access;
  const { slot = 1 } = options;
  return awaitGoal(access, `term ${term} has no outcome yet`, options, (view) =>
    outcomeOfTerm(view, { term, slot }, () => recordOfTerm(store, paths, term, slot)),
  );
}

/**
 * Returns the outcome of a term, or null while there is none. `record` reads the term's record in the
 * history. Throws PetrelError INVALID if neither the group nor the history has the slot.
 */
export async function outcomeOfTerm(
  group: GroupView,
  { term, slot = 1 }: TermQuery,
  record: () => Promise<TransitionRecord | null>,
): Promise<Outcome | null> {
  const kept = hasSlot(group, slot) ? null : await record();
  if (kept !== null) return recordedOutcome(kept);
  const view = viewOfSlot(group, slot);
  const elected = effectiveDecision(view);
  if (elected.term < term) return null;
  if (elected.term === term) return presentTerm(view);
  const recorded = await record();
  return recorded === null ? supersededTerm(view, term) : recordedOutcome(recorded);
}

/**
 * Waits until the group is settled: either the leader is already the node that the group would elect, or no
 * node can lead. Throws PetrelError UNDER_WAY on timeout. Also throws StoreError.
 */
export function awaitSettled(access: GroupAccess, options: WaitOptions = {}): Promise<Outcome> {
  return awaitGoal(access, 'the transition is still under way', options, async (group, nowMs) =>
    withAnswers(group, (view) => {
      const slots = viewsOfSlots(view);
      if (slots.length !== readableConfig(view).leaders) return null;
      return slots.every((each) => isSettled(each, nowMs)) ? presentTerm(view) : null;
    }),
  );
}

function isSettled(view: GroupView, nowMs: number): boolean {
  if (transitionOf(view, nowMs) !== null) return false;
  const choice = judge(view, nowMs);
  const moves = choice.changes && !isPutOff(choice, readableConfig(view), view.rules);
  return !moves && (choice.node !== null || choice.recheckInMs === null);
}

/** Returns the outcome of the term in `elected`, or null while there is none. */
function presentTerm(view: GroupView): Outcome | null {
  const { current, members } = view;
  const { node, term, reason } = effectiveDecision(view);
  if (node === null) return { state: 'NOBODY', term, node, reason, record: null };
  const leads = current?.value?.status === 'READY' && current.value.term === term;
  if (!leads || claimOwner(current, members)?.node !== node) return null;
  return { state: 'READY', term, node, reason, record: null };
}

function supersededTerm(view: GroupView, term: number): Outcome {
  const { term: present, node, reason } = effectiveDecision(view);
  const text = `term ${present} replaced it before it was READY: ${node ?? 'no node'} was elected (${reason})`;
  return { state: 'SUPERSEDED', term, node: null, reason: text, record: null };
}

function recordedOutcome(record: TransitionRecord): Outcome {
  const { term, node, outcome, error, reason } = record;
  const state = outcome === 'READY' || outcome === 'NOBODY' ? outcome : 'FAILED';
  const why = error === null ? reason : `${error.phase} failed: ${error.reason}`;
  return { state, term, node, reason: why, record };
}

/**
 * Returns the longest time that a transition may take: the sum of the time limits of its phases, plus a
 * margin.
 */
export function defaultWaitMs(view: GroupView): number {
  const { timeouts } = view.config.value ?? defaultGroupConfig;
  const phases = [timeouts.release, timeouts.grace, timeouts.claim, timeouts.takeover];
  return phases.map((limit) => durationMs(limit)).reduce((sum, limit) => sum + limit, spareMs);
}

/** Time in milliseconds that is allowed for making the decision, and for a leader's session to end. */
const spareMs = 15_000;

async function awaitGoal(
  access: GroupAccess,
  whenOver: string,
  { timeoutMs, onProgress = () => {}, signal, slot }: TermOptions,
  goal: Goal,
): Promise<Outcome> {
  const { store, clock } = access;
  const over = new AbortController();
  const stop = () => over.abort();
  signal?.addEventListener('abort', stop);
  let cancel = timeoutMs === undefined ? undefined : clock.timer(timeoutMs, stop);
  let reading: ClockReading | null = null;
  let last: Hindrance | null = null;
  try {
    const when = { watch: 'decisions', nextLookInMs: () => lookAgainMs, signal: over.signal } as const;
    for await (const view of follow(access, when)) {
      cancel ??= clock.timer(defaultWaitMs(view), stop);
      const look: Look | null = await whileInTouch(store, lookAt(access, view, goal, { reading, slot }));
      if (look === null) continue;
      if (look.outcome !== null) return look.outcome;
      if (last?.key !== look.hindrance.key) onProgress(look.hindrance.text);
      last = look.hindrance;
      reading = look.reading;
    }
  } finally {
    cancel?.();
    signal?.removeEventListener('abort', stop);
  }
  throw new PetrelError('UNDER_WAY', whenOver, {
    reasons: last === null ? [] : [last.text],
  });
}

/**
 * Interval in milliseconds between checks that no watch triggers. They detect changes that happen without a
 * write, for example because time passes.
 */
const lookAgainMs = 2000;

interface Hindrance {
  /** Identifies the hindrance, so that each hindrance is reported only once. */
  readonly key: string;
  readonly text: string;
}

interface Look {
  readonly reading: ClockReading;
  readonly outcome: Outcome | null;
  readonly hindrance: Hindrance;
}

interface LookedFor {
  /** The last reading of the ensemble's clock. Null if the clock has not been read. */
  readonly reading: ClockReading | null;
  /** The slot to wait for. Undefined for all slots. */
  readonly slot: number | undefined;
}

function lookAt(
  { store, clock }: GroupAccess,
  view: GroupView,
  goal: Goal,
  { reading: known, slot }: LookedFor,
) {
  return async (): Promise<Look> => {
    const reading = known ?? (await readOrEstimateClock(store, view, clock));
    const nowMs = ensembleNowMs(reading, clock.monotonicMs());
    const outcome = await goal(view, nowMs);
    const hindrance = await withAnswers(view, (judged) => {
      const isOne = slot !== undefined && hasSlot(judged, slot);
      const slots = isOne ? [viewOfSlot(judged, slot)] : viewsOfSlots(judged);
      return hindranceOf(slots, slots[0] ?? judged, nowMs);
    });
    return { reading, outcome, hindrance };
  };
}

/** Returns what the group is waiting for, as far as the view shows. */
function hindranceOf(slots: readonly GroupView[], view: GroupView, nowMs: number): Hindrance {
  const underWay = slots
    .map((each) => ({ ...namedSlot(each), transition: transitionOf(each, nowMs) }))
    .find(({ transition }) => transition !== null);
  if (underWay !== undefined && underWay.transition !== null) {
    const { slot, transition } = underWay;
    const { term, phase, node } = transition;
    const which = slot === undefined ? `term ${term}` : `slot ${slot}, term ${term}`;
    return { key: `${which} ${phase} ${node}`, text: `${which}: ${transitionText(transition)}` };
  }
  const { term } = effectiveDecision(view);
  const elector = view.seats[0]?.node;
  if (elector === undefined)
    return { key: 'no elector', text: 'the group has no elector: no agent holds a seat' };
  const idle = idleText(view, nowMs);
  if (idle !== null) return { key: `${term} idle`, text: `term ${term}: ${idle}` };
  return {
    key: `${term} ${elector}`,
    text: `term ${term}: waiting for the decision of the elector ${elector}`,
  };
}

/** Returns why no decision is due. Null if a decision is due, or if the reason cannot be determined. */
function idleText(view: GroupView, nowMs: number): string | null {
  if (view.config.value === null) return null;
  const { node, changes, reason } = judge(view, nowMs);
  return changes ? null : `no transition is under way; ${remainsElectedText(node)}: ${reason}`;
}

/** Runs `look`. Returns null if the connection breaks in the meantime. */
async function whileInTouch<T>(store: Store, look: () => Promise<T>): Promise<T | null> {
  try {
    return await look();
  } catch (error) {
    if (isStoreError(error, 'CONNECTION_LOSS', 'TIMEOUT') && store.state !== 'LOST') return null;
    throw error;
  }
}
