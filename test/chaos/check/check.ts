/**
 * Judges a run only by its records, which the hooks, clients and servers wrote themselves. The check shares
 * no code with the software that it judges.
 *
 * Not promised: the check cannot find anything that was not recorded.
 */
import type { RunRecords } from '../records.js';
import { untrueAnswers } from './answers.js';
import { historyProblems, readClaims, takeoversWithoutClaim } from './claims.js';
import { lateAnswers } from './http.js';
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
  /** Violations in chronological order. Empty if the run was correct. */
  readonly violations: readonly Violation[];
  readonly faults: readonly FaultSpan[];
  /** Gaps in leadership, grouped by slot. `firsts` is grouped by slot, too. */
  readonly gaps: readonly Gap[];
  /** Times until the first leader of each slot. A slot that had a leader from the start is left out. */
  readonly firsts: readonly Gap[];
  /** Times from one leadership to the next, for claims that their owner deleted. */
  readonly handovers: readonly Margin[];
  /** Times from one leadership to the next, for claims that ended with their owner's session. */
  readonly failovers: readonly Margin[];
  /** Number of takeovers that began. `ready` is the number of claims that became READY. */
  readonly takeovers: number;
  readonly ready: number;
  /** Number of claims that became READY, by slot. The first number is that of slot 1. */
  readonly readyInSlot: readonly number[];
  /** Number of killed processes. */
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
    ...lateAnswers(nemesis, faults, run),
    ...tooLong(leaderless),
    ...lostForNothing(leaderless, faults, run),
    ...slots.flatMap((slot) => keptTooLong(slot, changes, leaderships, faults, run)),
    ...nemesis.flatMap((record) => {
      return record.event === 'problem'
        ? [{ rule: 'no unexpected problems', what: record.what, atMs: record.atMs }]
        : [];
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
