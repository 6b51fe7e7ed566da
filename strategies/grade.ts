import type { Candidate } from '../src/model/strategy.js';

type Compare = (a: Candidate, b: Candidate) => number;

/** Text for the default tie-break rule of `gradeBy`. */
export const lowerIdFirst = 'the lower node id ranks first';

/**
 * Sorts the candidates by `compare`, and gives equal candidates the same grade. Equal candidates are sorted
 * by `tie`, which by default compares node ids.
 */
export function gradeBy(
  candidates: readonly Candidate[],
  compare: Compare,
  tie: Compare = byNode,
): { candidate: Candidate; grade: number }[] {
  const sorted = candidates.toSorted((a, b) => compare(a, b) || tie(a, b));
  let grade = 0;
  return sorted.map((candidate, index) => {
    const before = sorted[index - 1];
    if (before !== undefined && compare(before, candidate) !== 0) grade += 1;
    return { candidate, grade };
  });
}

function byNode(a: Candidate, b: Candidate): number {
  return a.node < b.node ? -1 : 1;
}
