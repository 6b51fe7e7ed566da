/**
 * Report of one transition. It begins with the operators' changes that led to the transition, and ends with
 * READY. It contains the reason, who decided, when each phase began and ended, the results of the hooks, and
 * the nodes that failed earlier. The report is derived from the znodes. Instants are given on the ensemble's
 * clock. The duration of each hook is measured on the clock of the node that ran it.
 */

import * as z from 'zod';
import { isGivenUp } from '../core/elsewhere.js';
import { recordSoFar } from '../core/records.js';
import { PetrelError } from '../errors.js';
import type { NamedSlot } from '../model/named-slot.js';
import { fromInstant, instantSchema, nameSchema, toInstant } from '../model/names.js';
import type { GroupPaths } from '../model/paths.js';
import { namedSlot, slotOf } from '../model/slots.js';
import {
  type ChangeRecord,
  changeRecordSchema,
  type HistoryRecord,
  type TransitionRecord,
  transitionOutcomeSchema,
  transitionRecordSchema,
} from '../model/znodes.js';
import type { Store } from '../ports/store.js';
import { mostRecords, newestRecords } from '../tree/records.js';
import { gapsOf, leaderlessOf } from './history.js';
import { hasSlot, viewOfSlot } from './slot-view.js';
import type { GroupView } from './view.js';

const stepSchema = z.object({
  /** When the step happened. Null if no znode shows it. */
  at: instantSchema.nullable(),
  step: z.enum([
    'changed',
    'decided',
    'stopped',
    'release-began',
    'release-ended',
    'takeover-began',
    'takeover-ended',
    'ready',
    'failed',
  ]),
  /** The node that took the step. Null for an operator's change. */
  node: nameSchema.nullable(),
  /** Describes the step in one line, for display. */
  text: z.string(),
});
type Step = z.infer<typeof stepSchema>;

const hookSchema = z.object({
  node: nameSchema,
  /** Phase of the transition: `release`, `takeover`, `prepare`, … */
  phase: z.string(),
  result: z.string(),
  error: z.string().nullable(),
  durationMs: z.number().nullable(),
});

export const termSchema = transitionRecordSchema.omit({ kind: true, phases: true }).extend({
  root: z.string(),
  /** UNDER_WAY means that the node is neither READY nor replaced. */
  outcome: z.enum([...transitionOutcomeSchema.options, 'UNDER_WAY']),
  lengths: transitionRecordSchema.shape.phases.extend({
    /**
     * Milliseconds from the decision to READY. If the leader stopped leading and came back, the time is
     * measured from the moment at which it stopped.
     */
    totalMs: z.number().nullable(),
    /** Milliseconds without a READY leader, including failed attempts. */
    leaderlessMs: z.number().nullable(),
    /**
     * Whether the actual time was longer. True if the time is measured from the moment at which the loss was
     * noticed.
     */
    leaderlessAtLeast: z.boolean(),
  }),
  /** Steps in order. If a leader lost its lease and came back, they include the steps of each leadership. */
  steps: z.array(stepSchema),
  /**
   * Results of the hooks, as far as nodes reported them. The result of a hook that is not configured is `ok`.
   */
  hooks: z.array(hookSchema),
  /**
   * Failed attempts since a node was last READY, oldest first. They include attempts in this term and in
   * earlier terms.
   */
  failed: z.array(transitionRecordSchema),
  /** Operators' changes since the previous transition, oldest first. */
  changes: z.array(changeRecordSchema),
});
export type TermReport = z.infer<typeof termSchema>;

/** A term of one slot. Each slot counts its own terms. */
export interface TermQuery {
  readonly term: number;
  /**
   * Number of the slot. Default: the first slot. A removed slot remains available as long as the history
   * contains it.
   */
  readonly slot?: number | undefined;
}

/**
 * Reads the report of a term. Throws PetrelError FAILED if the group does not know the term or has forgotten
 * it, and INVALID for a slot that has never existed. Throws StoreError.
 */
export async function readTerm(
  store: Store,
  paths: GroupPaths,
  view: GroupView,
  query: TermQuery,
): Promise<TermReport> {
  const stored = await newestRecords(store, paths, mostRecords);
  const records = stored.flatMap(({ value }) => (value === null ? [] : [value]));
  return termReport(view, records.toReversed(), query);
}

type Reported = Omit<TransitionRecord, 'outcome'> & Pick<TermReport, 'outcome'>;

/**
 * Builds the report of a term. `records` must be ordered oldest first. Throws the same PetrelErrors as
 * `readTerm`.
 */
export function termReport(
  group: GroupView,
  records: readonly HistoryRecord[],
  { term, slot = 1 }: TermQuery,
): TermReport {
  const transitions = records
    .filter((record) => record.kind === 'transition')
    .filter((record) => slotOf(record) === slot);
  const view = hasSlot(group, slot) || transitions.length === 0 ? viewOfSlot(group, slot) : null;
  const tries = triesOf(view, transitions, term);
  const [first] = tries;
  const last = tries.at(-1);
  if (first === undefined || last === undefined) throw unknown(view, transitions, term);
  const begun = transitions.findIndex((record) => record.term === term);
  const earlier: Reported[] = transitions.slice(0, begun === -1 ? undefined : begun);
  const since = earlier.findLastIndex((record) => record.outcome === 'READY' || isGivenUp(record));
  const failed = transitions.slice(since + 1, earlier.length);
  const changes = changesBetween(records, earlier[since] ?? null, first);
  const { kind: _, phases, ...rest } = last;
  return {
    ...rest,
    root: group.paths.root,
    lengths: {
      ...phases,
      totalMs: totalMs(last),
      ...leaderlessOf(gapsOf([...earlier, ...tries].toReversed()).get(last)),
    },
    steps: [...stepsBefore(changes, failed), ...tries.flatMap(stepsOf)],
    hooks: tries.flatMap(hooksOf),
    failed,
    changes,
  };
}

/** Returns the attempts of one term, oldest first. There are several if a leader stopped and came back. */
function triesOf(view: GroupView | null, transitions: readonly TransitionRecord[], term: number): Reported[] {
  const recorded = transitions.filter((record) => record.term === term);
  const present = view === null ? null : underWay(view, term);
  const isKnown =
    present === null ||
    (recorded.length > 0 && (present.fencingToken === null || isRecorded(recorded, present)));
  return isKnown ? recorded : [...recorded, present];
}

function isRecorded(recorded: readonly TransitionRecord[], { fencingToken }: Reported): boolean {
  return recorded.some((record) => record.fencingToken === fencingToken);
}

function totalMs({ readyAt, electedAt, resumes }: Reported): number | null {
  const from = resumes === null ? electedAt : resumes.endedAt;
  return readyAt === null || from === null ? null : fromInstant(readyAt) - fromInstant(from);
}

function underWay(view: GroupView, term: number): Reported | null {
  const elected = view.elected.value;
  if (elected === null || elected.term !== term || term === 0) return null;
  const record = recordSoFar({ snapshot: view, members: view.members }, elected);
  const outcome = record.readyAt !== null ? 'READY' : elected.node === null ? 'NOBODY' : 'UNDER_WAY';
  return { ...record, ...namedSlot(view), outcome, error: null };
}

function unknown(view: GroupView | null, known: readonly TransitionRecord[], term: number): PetrelError {
  const oldest = known[0]?.term;
  const newest = Math.max(view?.elected.value?.term ?? 0, known.at(-1)?.term ?? 0);
  const { slot } = known.at(-1) ?? namedSlotOf(view);
  const where = slot === undefined ? '' : ` of slot ${slot}`;
  const text =
    term > newest
      ? `term ${term}${where} does not exist yet: the newest term is ${newest}`
      : `term ${term}${where} is not in the history${oldest === undefined ? '' : ` any more: the oldest term is ${oldest}`}`;
  return new PetrelError('FAILED', text);
}

function namedSlotOf(view: GroupView | null): NamedSlot {
  return view === null ? {} : namedSlot(view);
}

function changesBetween(
  records: readonly HistoryRecord[],
  before: Reported | null,
  record: Reported,
): ChangeRecord[] {
  const sinceMs = before === null ? Number.NEGATIVE_INFINITY : fromInstant(before.electedAt);
  const untilMs = fromInstant(record.electedAt);
  return records
    .filter((record) => record.kind === 'change')
    .filter(({ at }) => fromInstant(at) > sinceMs && fromInstant(at) <= untilMs);
}

function stepsBefore(changes: readonly ChangeRecord[], failed: readonly TransitionRecord[]): Step[] {
  return [
    ...changes.map((change) => ({ at: change.at, steps: [changed(change)] })),
    ...failed.map((record) => ({ at: record.electedAt, steps: stepsOf(record) })),
  ]
    .toSorted((one, other) => fromInstant(one.at) - fromInstant(other.at))
    .flatMap(({ steps }) => steps);
}

function changed({ at, what, by, reason }: ChangeRecord): Step {
  return { at, step: 'changed', node: null, text: `${by}: ${what}${reason === null ? '' : `: ${reason}`}` };
}

function stepsOf(record: Reported): Step[] {
  const { term, node, outcome, error } = record;
  const steps = [beginningOf(record), ...releaseSteps(record), ...takeoverSteps(record)];
  if (outcome !== 'FAILED') return steps;
  const why = error === null ? '' : `: ${error.phase}: ${error.reason}`;
  return [...steps, { at: null, step: 'failed', node, text: `term ${term}: ${node} fails${why}` }];
}

function beginningOf({ term, node, by, cause, reason, electedAt, resumes }: Reported): Step {
  if (resumes !== null) {
    const why = resumes.reason === null ? '' : `: ${resumes.reason}`;
    return { at: resumes.endedAt, step: 'stopped', node, text: `${node} stops leading${why}` };
  }
  return {
    at: electedAt,
    step: 'decided',
    node: by,
    text: `term ${term}: ${by ?? 'the elector'} elects ${node ?? 'no node'} (${cause}): ${reason}`,
  };
}

function releaseSteps({ release }: Reported): Step[] {
  if (release === null) return [];
  const { node, endedAt, durationMs, result, error } = release;
  if (endedAt === null) {
    return [
      {
        at: null,
        step: 'release-ended',
        node,
        text: `${node} had already completed its release: ${error ?? result}`,
      },
    ];
  }
  return [
    {
      at: toInstant(fromInstant(endedAt) - durationMs),
      step: 'release-began',
      node,
      text: `${node} starts its release`,
    },
    {
      at: endedAt,
      step: 'release-ended',
      node,
      text: `${node} has completed its release: ${error ?? result}`,
    },
  ];
}

function takeoverSteps({ term, node, site, claimedAt, readyAt, fencingToken, phases }: Reported): Step[] {
  if (claimedAt === null) return [];
  const token = `fencing token ${fencingToken}`;
  const began: Step = {
    at: claimedAt,
    step: 'takeover-began',
    node,
    text: `PROGRESS: ${node} starts to take over, ${token}`,
  };
  if (readyAt === null) return [began];
  const endedAtMs = Math.min(fromInstant(claimedAt) + (phases.takeoverMs ?? 0), fromInstant(readyAt));
  return [
    began,
    { at: toInstant(endedAtMs), step: 'takeover-ended', node, text: `${node} has taken over: ok` },
    { at: readyAt, step: 'ready', node, text: `READY: ${node} (site ${site}) leads in term ${term}` },
  ];
}

function hooksOf({ node, release, readyAt, phases, error }: Reported): TermReport['hooks'] {
  const hooks: TermReport['hooks'] = [];
  if (release !== null) {
    const { endedAt: _, ...released } = release;
    hooks.push({ phase: 'release', ...released });
  }
  if (node !== null && readyAt !== null) {
    hooks.push({ node, phase: 'takeover', result: 'ok', error: null, durationMs: phases.takeoverMs });
  }
  if (node !== null && error !== null) {
    const { phase, reason, durationMs } = error;
    hooks.push({ node, phase, result: 'failed', error: reason, durationMs });
  }
  return hooks;
}
