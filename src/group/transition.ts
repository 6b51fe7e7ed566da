/**
 * Describes, for operators, the transition that is under way: which node it is waiting for, since when, and
 * how long that wait may take.
 */
import * as z from 'zod';
import { ownIneligibleReasons } from '../core/constraint.js';
import { effectiveDecision } from '../core/effective-decision.js';
import { type Condition, watch } from '../core/watchdog.js';
import { durationMs, formatDuration } from '../model/duration.js';
import { defaultGroupConfig, type GroupConfig } from '../model/group-config.js';
import { instantSchema, nameSchema, toInstant } from '../model/names.js';
import type { Elected } from '../model/znodes.js';
import { judgeMembers } from './judge.js';
import type { GroupView } from './view.js';

export const transitionSchema = z.object({
  term: z.int(),
  /**
   * `releasing`: the old leader still owns its claim. `claiming`: the elected node has not claimed leadership
   * yet. `taking-over`: the elected node has claimed leadership but is not READY yet.
   */
  phase: z.enum(['releasing', 'claiming', 'taking-over']),
  /** The node that the transition is waiting for. Null if the claim's owner is not known. */
  node: z.string().nullable(),
  /** The node that is elected to lead. Null if none is elected. */
  to: nameSchema.nullable(),
  /** Start of the wait, on the ensemble's clock. */
  since: instantSchema,
  elapsedMs: z.number(),
  limitMs: z.number(),
});
export type Transition = z.infer<typeof transitionSchema>;

/**
 * Returns the transition under way, or null if there is none. `nowMs` is an instant on the ensemble's clock,
 * in milliseconds since the epoch.
 */
export function transitionOf(view: GroupView, nowMs: number): Transition | null {
  const config = view.config.value ?? defaultGroupConfig;
  const elected = effectiveDecision(view);
  const condition = watch(view, elected, { ...config, paused: null }, null, 0)?.condition;
  if (condition === undefined || waitsInPause(view, config, condition, nowMs)) return null;
  const { phase, limit } = phases[condition.kind];
  const sinceMs = sinceOf(phase, view, elected);
  return {
    term: elected.term,
    phase,
    node: condition.node,
    to: elected.node,
    since: toInstant(sinceMs ?? nowMs),
    elapsedMs: Math.max(0, nowMs - (sinceMs ?? nowMs)),
    limitMs: durationMs(config.timeouts[limit]),
  };
}

function sinceOf(phase: Transition['phase'], view: GroupView, elected: Elected): number | undefined {
  switch (phase) {
    case 'taking-over':
      return view.current?.createdAtMs;
    case 'releasing':
      // A leader that keeps its claim reports every attempt at a release. The time is nevertheless measured
      // from the decision, not from the last report.
      return view.elected.modifiedAtMs;
    case 'claiming':
      return waitedForSinceMs(view, elected);
  }
}

const phases = {
  holding: { phase: 'releasing', limit: 'release' },
  unclaimed: { phase: 'claiming', limit: 'claim' },
  'taking-over': { phase: 'taking-over', limit: 'takeover' },
} as const;

/**
 * Returns when the wait for the elected node's claim began. This is the time of the decision or of the
 * previous release, whichever is later. A leader that lost its claim may claim again under the same decision,
 * but it completes its own release first.
 */
function waitedForSinceMs(
  { elected, history, members }: GroupView,
  { node, term, previous }: Elected,
): number {
  const led = history?.value?.term === term ? history.value.fencingToken : null;
  const member = members.find((one) => one.node === node);
  const hasReleased = led !== null && member?.value?.lastRelease?.token === led;
  // The elected node could not make a claim until the old leader had completed its release.
  const released = hasReleased
    ? member
    : members.find((one) => one.node === previous?.node && one.value?.lastRelease?.term === term);
  return Math.max(elected.modifiedAtMs, released?.modifiedAtMs ?? 0);
}

/**
 * Whether the elected node is ineligible and the group is paused. Such a node must not claim leadership. No
 * transition waits for it or replaces it.
 */
function waitsInPause(view: GroupView, config: GroupConfig, condition: Condition, nowMs: number): boolean {
  if (config.paused === null || condition.kind !== 'unclaimed') return false;
  const judged = judgeMembers(view, config, nowMs).find(({ member }) => member.node === condition.node);
  return judged === undefined || ownIneligibleReasons(judged).length > 0;
}

/** Describes the transition in one line: "b1 is taking over (12 s of 60 s)". */
export function transitionText({ phase, node, to, elapsedMs, limitMs }: Transition): string {
  const time = `(${seconds(elapsedMs)} of ${seconds(limitMs)})`;
  const who = node ?? 'an unknown session';
  switch (phase) {
    case 'claiming':
      return `${who} is elected but has not claimed leadership yet ${time}`;
    case 'taking-over':
      return `${who} is taking over ${time}`;
    case 'releasing':
      return `${who} is releasing leadership ${time}; ${to === null ? 'no node is elected' : `${to} is waiting`}`;
  }
}

/** Describes the current state in one line: "Now: a1 leads (term 4)". */
export function presentText(view: GroupView, nowMs: number): string {
  const transition = transitionOf(view, nowMs);
  if (transition !== null) return `Now: term ${transition.term}: ${transitionText(transition)}`;
  const { node, term, reason } = effectiveDecision(view);
  const isReady = view.current?.value?.status === 'READY';
  if (node !== null && isReady) return `Now: ${node} leads (term ${term})`;
  return `Now: no leader (term ${term}): ${reason}`;
}

function seconds(lengthMs: number): string {
  return lengthMs < 600_000 ? `${Math.floor(lengthMs / 1000)} s` : formatDuration(lengthMs);
}
