/** The history of a group, the newest first: transitions with their phases, and what people changed. */
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
  /** Of which slot; missing where the group had but one. */
  slot: z.int().optional(),
  /** Without a READY leader from then on, as far as the records tell. */
  from: instantSchema,
  /** Null while it lasts. */
  to: instantSchema.nullable(),
  lengthMs: z.number().nullable(),
  /** The gap began earlier, by up to a session timeout or an outage: a lost leader is noticed late. */
  atLeast: z.boolean(),
});
export type Gap = z.infer<typeof gapSchema>;

export const historySchema = z.object({
  root: z.string(),
  /** The newest first. */
  records: z.array(
    z.discriminatedUnion('kind', [
      transitionRecordSchema.extend({
        /** How long nobody was READY, up to this transition's end; null where the records do not tell. */
        leaderlessMs: z.number().nullable(),
        /** True: it was longer, since it is counted from when the loss was noticed. */
        leaderlessAtLeast: z.boolean(),
      }),
      changeRecordSchema,
    ]),
  ),
  /** Times without a READY leader, the newest first. */
  gaps: z.array(gapSchema),
  problems: z.array(z.object({ path: z.string(), problem: z.string() })),
});
export type History = z.infer<typeof historySchema>;

/** What a history is asked for. */
export interface Wanted {
  /** How many records, the newest ones. */
  readonly limit: number;
  /**
   * Whose transitions alone; undefined: those of all slots. What people changed is the group's, and always
   * there.
   */
  readonly slot?: number | undefined;
}

/** As JSON. Throws StoreError. */
export async function readHistory(store: Store, paths: GroupPaths, wanted: Wanted): Promise<History> {
  return historyOf(paths, await newestRecords(store, paths, toRead(wanted)), wanted);
}

/** How many records have to be read for it. */
export function toRead({ limit, slot }: Wanted): number {
  return slot === undefined ? limit : mostRecords;
}

/** Records as JSON, the newest first. */
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

/** Each slot has its own; in the order of their records. */
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

/** The time without a leader that ended with each transition of one slot; the last one may not have ended. */
export function gapsOf<T extends Omit<TransitionRecord, 'outcome'>>(newestFirst: readonly T[]): Map<T, Gap> {
  const gaps = new Map<T, Gap>();
  let lost: Loss | null = null;
  for (const record of newestFirst.toReversed()) {
    const givenUp = isGivenUp(record);
    lost ??= givenUp ? null : lossOf(record);
    if (lost === null) continue;
    // In a slot that is given up nobody is missing.
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

/** Fields of a record about the time in which nobody was READY. */
export function leaderlessOf(gap: Gap | undefined): {
  leaderlessMs: number | null;
  leaderlessAtLeast: boolean;
} {
  return { leaderlessMs: gap?.lengthMs ?? null, leaderlessAtLeast: gap?.atLeast ?? false };
}

interface Loss {
  readonly atMs: number;
  /** True: the time of the loss is unknown, and `atMs` is when it was noticed. */
  readonly isNoticed: boolean;
}

type Lost = Pick<TransitionRecord, 'cause' | 'electedAt' | 'claimedAt' | 'phases' | 'release' | 'resumes'>;

/** Since when nobody led, going by the transition that answered it; null where it does not tell. */
function lossOf({ cause, electedAt, claimedAt, phases, release, resumes }: Lost): Loss | null {
  const at = (atMs: number, isNoticed = false): Loss => ({ atMs, isNoticed });
  if (resumes !== null) return resumes.endedAt === null ? null : at(fromInstant(resumes.endedAt));
  if (cause === 'first') return null;
  if (release?.endedAt != null) return at(fromInstant(release.endedAt) - release.durationMs);
  if (cause === 'failure' || cause === 'retry' || cause === 'nobody') return at(fromInstant(electedAt), true);
  // Without its release, a leader that left or died in the meantime had stopped some time before the next
  // claim.
  const isUnknown = phases.releaseMs === null;
  if (claimedAt !== null) return at(fromInstant(claimedAt) - (phases.releaseMs ?? 0), isUnknown);
  return phases.releaseMs === null ? null : at(fromInstant(electedAt));
}
