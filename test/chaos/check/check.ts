/**
 * Judges a run by its records alone: by what hooks, clients and servers wrote themselves. It shares no code
 * with what it judges, and promises nothing of what nobody recorded.
 */
import type { RunRecords } from '../records.js';
import { untrueAnswers } from './answers.js';
import { historyProblems, readClaims, takeoversWithoutClaim } from './claims.js';
import {
  type FaultSpan,
  faultSpans,
  type Gap,
  gapsOf,
  keptTooLong,
  lostForNothing,
  tooLong,
} from './leaderless.js';
import { leadershipSpansOf, type Margin, margins, overlaps, tokenProblems } from './leaderships.js';
import { inSlot, type Violation } from './violation.js';

export interface Verdict {
  /** In time; none when all is well. */
  readonly violations: readonly Violation[];
  readonly faults: readonly FaultSpan[];
  /** Slot by slot, as the next. */
  readonly gaps: readonly Gap[];
  /** Until the first leader of each slot; none of one that had it at once. */
  readonly firsts: readonly Gap[];
  /** After claims that were deleted by their owner. */
  readonly handovers: readonly Margin[];
  /** After claims that went with their owner's session. */
  readonly failovers: readonly Margin[];
  /** Takeovers that were begun, and claims that became READY. */
  readonly takeovers: number;
  readonly ready: number;
  /** The latter by slot, the first's first. */
  readonly readyInSlot: readonly number[];
  /** Processes that were killed. */
  readonly crashes: number;
  readonly answers: number;
}

export function check(records: RunRecords): Verdict {
  const { run, hooks, answers, changes, nemesis } = records;
  const leaderships = leadershipSpansOf(hooks);
  const { claims, violations } = readClaims(changes);
  const faults = faultSpans(nemesis, run);
  const slots = Array.from({ length: run.leaders }, (_, index) => index + 1);
  const leaderless = slots.flatMap((slot) => gapsOf(slot, records, leaderships, faults));
  const expired = new Set(claims.filter((claim) => claim.expired).map(({ token }) => token));
  const moved = margins(leaderships);
  const ready = claims.filter(({ readyAtMs }) => readyAtMs !== null);
  const readyInSlot = slots.map((slot) => ready.filter((claim) => claim.slot === slot).length);
  const all: Violation[] = [
    ...overlaps(hooks, leaderships),
    ...tokenProblems(hooks),
    ...violations,
    ...takeoversWithoutClaim(hooks, claims),
    ...untrueAnswers(answers, claims, faults, run),
    ...historyProblems(changes),
    ...tooLong(leaderless),
    ...lostForNothing(leaderless, faults, run),
    ...slots.flatMap((slot) => keptTooLong(slot, changes, leaderships, faults, run)),
    ...nemesis.flatMap((record) => {
      return record.event === 'trouble' ? [{ rule: 'no trouble', what: record.what, atMs: record.atMs }] : [];
    }),
  ];
  for (const [index, count] of readyInSlot.entries()) {
    const what = `nobody was READY${inSlot(index + 1)}`;
    if (count === 0) all.push({ rule: 'something is shown', what, atMs: run.startedAtMs });
  }
  return {
    violations: all.toSorted((one, other) => one.atMs - other.atMs),
    faults,
    gaps: leaderless.filter(({ isFirst }) => !isFirst),
    firsts: leaderless.filter(({ isFirst }) => isFirst),
    handovers: moved.filter(({ from }) => !expired.has(from.token)),
    failovers: moved.filter(({ from }) => expired.has(from.token)),
    takeovers: leaderships.length,
    ready: ready.length,
    readyInSlot,
    crashes: nemesis.filter(({ event }) => event === 'crash').length,
    answers: answers.length,
  };
}
