/** The history of a group, newest first: transitions with their phases, and changes by operators. */
import * as z from 'zod';
import { isGivenUp } from '../core/elsewhere.js';
import { fromInstant, instantSchema, toInstant } from '../model/names.js';
import type { GroupPaths } from '../model/paths.js';
import { slotOf } from '../model/slots.js';
import {
  changeRecordSchema,
  type HistoryRecord,
  type TransitionRecord,
  transitionRecordSchema,
} from '../model/znodes.js';
import type { Store } from '../ports/store.js';
import { mostRecords, newestRecords, type StoredRecord } from '../tree/records.js';

const gapSchema = z.object({
  /** Number of the slot. Missing if the group had only one slot. */
  slot: z.int().optional(),
  /** Start of the gap. During the gap, no leader was READY, as far as the records show. */
  from: instantSchema,
  /** End of the gap. Null while the gap lasts. */
  to: instantSchema.nullable(),
  lengthMs: z.number().nullable(),
  /**
   * Whether the gap may have begun earlier than `from`, by up to a session timeout or the length of an
   * outage. The loss of a leader is noticed only after a delay.
   */
  atLeast: z.boolean(),
});
export type Gap = z.infer<typeof gapSchema>;

export const historySchema = z.object({
  root: z.string(),
  /** Transitions and changes, newest first. */
  records: z.array(
    z.discriminatedUnion('kind', [
      transitionRecordSchema.extend({
        /**
         * Time without a READY leader before the end of this transition, in milliseconds. Null if the records
         * do not show it.
         */
        leaderlessMs: z.number().nullable(),
        /**
         * Whether the actual time was longer. True if the time is measured from the moment at which the loss
         * was noticed.
         */
        leaderlessAtLeast: z.boolean(),
      }),
      changeRecordSchema,
    ]),
  ),
  /** Times without a READY leader, newest first. */
  gaps: z.array(gapSchema),
  problems: z.array(z.object({ path: z.string(), problem: z.string() })),
});
export type History = z.infer<typeof historySchema>;

/** Specifies the requested part of a history. */
export interface Wanted {
  /** Maximum number of records. If there are more, the newest are returned. */
  readonly limit: number;
  /**
   * The slot whose transitions are requested. Undefined for all slots. Operators' changes concern the whole
   * group and are always included.
   */
  readonly slot?: number | undefined;
}

/** Returns the history as JSON. Throws StoreError. */
export async function readHistory(store: Store, paths: GroupPaths, wanted: Wanted): Promise<History> {
  return historyOf(paths, await newestRecords(store, paths, toRead(wanted)), wanted);
}

/** Returns the number of records that must be read to answer the request. */
export function toRead({ limit, slot }: Wanted): number {
  return slot === undefined ? limit : mostRecords;
}

/** Converts records to JSON, newest first. */
export function historyOf(paths: GroupPaths, all: readonly StoredRecord[], wanted: Wanted): History {
  const stored = all.filter(({ value }) => isWanted(value, wanted.slot)).slice(0, wanted.limit);
  const records = stored.flatMap(({ value }) => (value === null ? [] : [value]));
  const gaps = gapsOfSlots(records.filter((record) => record.kind === 'transition'));
  return {
    root: paths.root,
    records: records.map((record) => {
      return record.kind === 'change' ? record : { ...record, ...leaderlessOf(gaps.get(record)) };
    }),
    gaps: [...gaps.values()].toReversed(),
    problems: stored.flatMap(({ name, problem }) => {
      return problem === null
        ? []
        : [{ path: paths.historyRecord(name), problem: `cannot be read: ${problem}` }];
    }),
  };
}

function isWanted(record: HistoryRecord | null, slot: number | undefined): boolean {
  return slot === undefined || record?.kind !== 'transition' || slotOf(record) === slot;
}

/** Returns the gaps of all slots, oldest first. Gaps are computed for each slot separately. */
function gapsOfSlots(newestFirst: readonly TransitionRecord[]): Map<TransitionRecord, Gap> {
  const slots = [...new Set(newestFirst.map(slotOf))];
  const found = new Map(
    slots.flatMap((slot) => [...gapsOf(newestFirst.filter((record) => slotOf(record) === slot))]),
  );
  return new Map(
    newestFirst.toReversed().flatMap((record): [TransitionRecord, Gap][] => {
      const gap = found.get(record);
      return gap === undefined ? [] : [[record, gap]];
    }),
  );
}

/**
 * Returns, for each transition of one slot, the gap that ended with that transition. The gap of the newest
 * transition may not have ended yet.
 */
export function gapsOf<T extends Omit<TransitionRecord, 'outcome'>>(newestFirst: readonly T[]): Map<T, Gap> {
  const gaps = new Map<T, Gap>();
  let lost: Loss | null = null;
  for (const record of newestFirst.toReversed()) {
    const givenUp = isGivenUp(record);
    lost ??= givenUp ? null : lossOf(record);
    if (lost === null) continue;
    // A removed slot needs no leader, so its removal ends the gap.
    const to = givenUp ? record.electedAt : record.readyAt;
    if (to !== null || record === newestFirst[0]) gaps.set(record, gapOf(record, lost, to));
    if (to !== null) lost = null;
  }
  return gaps;
}

function gapOf({ slot }: Pick<TransitionRecord, 'slot'>, { atMs, isNoticed }: Loss, to: string | null): Gap {
  const lengthMs = to === null ? null : Math.max(0, fromInstant(to) - atMs);
  const which = slot === undefined ? {} : { slot };
  return { ...which, from: toInstant(atMs), to, lengthMs, atLeast: isNoticed };
}

/** Returns the two fields of a record that describe the time without a READY node. */
export function leaderlessOf(gap: Gap | undefined): {
  leaderlessMs: number | null;
  leaderlessAtLeast: boolean;
} {
  return { leaderlessMs: gap?.lengthMs ?? null, leaderlessAtLeast: gap?.atLeast ?? false };
}

interface Loss {
  readonly atMs: number;
  /** True if the exact time of the loss is unknown. In that case, `atMs` is when the loss was noticed. */
  readonly isNoticed: boolean;
}

type Lost = Pick<TransitionRecord, 'cause' | 'electedAt' | 'claimedAt' | 'phases' | 'release' | 'resumes'>;

/**
 * Returns when the previous leadership ended, as derived from the transition that followed it. Returns null
 * if that transition does not show when the leadership ended.
 */
function lossOf({ cause, electedAt, claimedAt, phases, release, resumes }: Lost): Loss | null {
  const at = (atMs: number, isNoticed = false): Loss => ({ atMs, isNoticed });
  if (resumes !== null) return resumes.endedAt === null ? null : at(fromInstant(resumes.endedAt));
  if (cause === 'first') return null;
  if (release?.endedAt != null) return at(fromInstant(release.endedAt) - release.durationMs);
  if (cause === 'failure' || cause === 'retry' || cause === 'nobody') return at(fromInstant(electedAt), true);
  // If no release is known, the leader left or died. It must have stopped leading some time before the next
  // claim.
  const isUnknown = phases.releaseMs === null;
  if (claimedAt !== null) return at(fromInstant(claimedAt) - (phases.releaseMs ?? 0), isUnknown);
  return phases.releaseMs === null ? null : at(fromInstant(electedAt));
}
