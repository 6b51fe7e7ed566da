/** How a count grows with a size: a + b N + c N², by as few of these as will do. */

/** Of the powers 0, 1 and 2 of the size. None is negative. */
export type Law = readonly [number, number, number];

export interface Point {
  readonly size: number;
  readonly value: number;
}

/**
 * A law with as many terms more as it takes is not looked for where one is off by no more than this share of
 * what was counted.
 */
const closeShare = 0.05;

/** Simplest first. */
const straight: readonly (readonly number[])[] = [[0], [1], [0, 1]];
const bent: readonly (readonly number[])[] = [...straight, [2], [0, 2], [1, 2], [0, 1, 2]];

export function lawAt([constant, linear, square]: Law, size: number): number {
  return constant + linear * size + square * size * size;
}

/**
 * By least squares of the shares that it is off. @param straightWithin a law without a square will do where
 * it is off by no more than this share. Default: that of any law. @throws RangeError where there are no
 * points.
 */
export function lawOf(points: readonly Point[], straightWithin = closeShare): Law {
  const line = bestOf(points, straight);
  return offShare(line, points) <= straightWithin ? line : bestOf(points, bent);
}

function bestOf(points: readonly Point[], candidates: readonly (readonly number[])[]): Law {
  const laws = candidates
    .filter((powers) => powers.length <= points.length)
    .map((powers) => leastSquares(points, powers))
    .filter((law) => law.every((term) => term >= 0));
  const close = laws.find((law) => offShare(law, points) <= closeShare);
  const [best] = laws.toSorted((one, other) => offShare(one, points) - offShare(other, points));
  const found = close ?? best;
  if (found === undefined) throw new RangeError('there is no law of nothing');
  return found;
}

/** By how much a law is off where it is off most, as a share of what was counted. */
export function offShare(law: Law, points: readonly Point[]): number {
  return Math.max(...points.map(({ size, value }) => Math.abs(lawAt(law, size) - value) / scaleOf(value)));
}

/** The size from which on the law is above `most`; Infinity: never. */
export function sizeWhere(law: Law, most: number): number {
  const [constant, linear, square] = law;
  if (constant >= most) return 0;
  if (square > 0) {
    const root = Math.sqrt(linear * linear + 4 * square * (most - constant));
    return (root - linear) / (2 * square);
  }
  return linear > 0 ? (most - constant) / linear : Number.POSITIVE_INFINITY;
}

/** What is counted in ones is not off by a share of less than one. */
function scaleOf(value: number): number {
  return Math.max(Math.abs(value), 1);
}

function leastSquares(points: readonly Point[], powers: readonly number[]): Law {
  const rows = points.map(({ size, value }) => ({
    terms: powers.map((power) => size ** power / scaleOf(value)),
    value: value / scaleOf(value),
  }));
  const matrix = powers.map((_, row) => [
    ...powers.map((_, column) =>
      rows.reduce((sum, { terms }) => sum + at(terms, row) * at(terms, column), 0),
    ),
    rows.reduce((sum, { terms, value }) => sum + at(terms, row) * value, 0),
  ]);
  const solution = solve(matrix);
  const term = (power: number) => at(solution, powers.indexOf(power));
  return [term(0), term(1), term(2)];
}

function at(values: readonly number[], index: number): number {
  return values[index] ?? 0;
}

/** Gauss and Jordan; each row ends with its right side. */
function solve(matrix: readonly (readonly number[])[]): number[] {
  const rows = matrix.map((row) => [...row]);
  for (const [pivot, chosen] of rows.entries()) {
    const scale = at(chosen, pivot);
    for (const [index, value] of chosen.entries()) chosen[index] = value / scale;
    for (const row of rows) {
      if (row === chosen) continue;
      const factor = at(row, pivot);
      for (const [index, value] of chosen.entries()) row[index] = at(row, index) - factor * value;
    }
  }
  return rows.map((row) => row.at(-1) ?? 0);
}
