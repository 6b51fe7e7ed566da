/**
 * Judges a run by its records alone: by what hooks, clients and servers wrote themselves. It shares no code with what
 * it judges, and promises nothing of what nobody recorded.
 */
import type { RunRecords } from '../records.js';
import { untrueAnswers } from './answers.js';
import { historyProblems, readClaims, takeoversWithoutClaim } from './claims.js';
import {
  type FaultSpan,
  faultSpans,
  firstGap,
  type Gap,
  gaps,
  lostForNothing,
  tooLong,
} from './leaderless.js';
import { type Margin, margins, overlaps, tenuresOf, tokenProblems } from './tenures.js';
import type { Violation } from './violation.js';

export interface Verdict {
  /** In time; none when all is well. */
  readonly violations: readonly Violation[];
  readonly faults: readonly FaultSpan[];
  readonly gaps: readonly Gap[];
  /** Until the first leader. */
  readonly first: Gap;
  /** After claims that were deleted by their owner. */
  readonly handovers: readonly Margin[];
  /** After claims that went with their owner's session. */
  readonly failovers: readonly Margin[];
  /** Takeovers that were begun, and claims that became READY. */
  readonly takeovers: number;
  readonly ready: number;
  /** Processes that were killed. */
  readonly crashes: number;
  readonly answers: number;
}

export function check({ run, hooks, answers, changes, nemesis }: RunRecords): Verdict {
  const tenures = tenuresOf(hooks);
  const { claims, violations } = readClaims(changes);
  const faults = faultSpans(nemesis, run);
  const leaderless = gaps(tenures, answers, faults, run);
  const first = firstGap(tenures, answers, changes, faults, run);
  const expired = new Set(claims.filter((claim) => claim.expired).map(({ token }) => token));
  const moved = margins(tenures);
  const ready = claims.filter(({ readyAtMs }) => readyAtMs !== null).length;
  const all: Violation[] = [
    ...overlaps(hooks, tenures),
    ...tokenProblems(hooks),
    ...violations,
    ...takeoversWithoutClaim(hooks, claims),
    ...untrueAnswers(answers, claims, faults, run),
    ...historyProblems(changes),
    ...tooLong([first, ...leaderless]),
    ...lostForNothing(leaderless, faults, run),
    ...nemesis.flatMap((record) => {
      return record.event === 'trouble' ? [{ rule: 'no trouble', what: record.what, atMs: record.atMs }] : [];
    }),
  ];
  if (ready === 0) all.push({ rule: 'something is shown', what: 'nobody was READY', atMs: run.startedAtMs });
  return {
    violations: all.toSorted((one, other) => one.atMs - other.atMs),
    faults,
    gaps: leaderless,
    first,
    handovers: moved.filter(({ from }) => !expired.has(from.token)),
    failovers: moved.filter(({ from }) => expired.has(from.token)),
    takeovers: tenures.length,
    ready,
    crashes: nemesis.filter(({ event }) => event === 'crash').length,
    answers: answers.length,
  };
}
