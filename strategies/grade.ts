import type { Candidate } from '../src/core/strategy.js';

/** Sorts by `compare`, ties by node id, and gives equal candidates one grade. */
export function gradeBy(
  candidates: readonly Candidate[],
  compare: (a: Candidate, b: Candidate) => number,
): { candidate: Candidate; grade: number }[] {
  const sorted = candidates.toSorted((a, b) => compare(a, b) || (a.node < b.node ? -1 : 1));
  let grade = 0;
  return sorted.map((candidate, index) => {
    const before = sorted[index - 1];
    if (before !== undefined && compare(before, candidate) !== 0) grade += 1;
    return { candidate, grade };
  });
}
