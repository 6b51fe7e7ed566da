/** Fits the growth of a count with a size N: a + b N + c N², with as few of these terms as possible. */

/** Coefficients of the powers 0, 1 and 2 of the size. None is negative. */
export type Law = readonly [number, number, number];

export interface Point {
  readonly size: number;
  readonly value: number;
}

/** Largest relative error of an accepted law. More terms are tried only if simpler laws exceed it. */
const closeShare = 0.05;

/** Powers of the size that a law may use, simplest first. */
const straight: readonly (readonly number[])[] = [[0], [1], [0, 1]];
const bent: readonly (readonly number[])[] = [...straight, [2], [0, 2], [1, 2], [0, 1, 2]];

export function lawAt([constant, linear, square]: Law, size: number): number {
  return constant + linear * size + square * size * size;
}

/**
 * Returns a law, fitted by least squares of the relative errors.
 * @param straightWithin relative error up to which a law without a square is accepted. Default: that of any
 * law.
 * @throws RangeError if there are no points.
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

/** Returns the largest relative error of a law at these points. */
export function offShare(law: Law, points: readonly Point[]): number {
  return Math.max(...points.map(({ size, value }) => Math.abs(lawAt(law, size) - value) / scaleOf(value)));
}

/** Returns the size above which the law exceeds `most`. Returns Infinity if it never does. */
export function sizeWhere(law: Law, most: number): number {
  const [constant, linear, square] = law;
  if (constant >= most) return 0;
  if (square > 0) {
    const root = Math.sqrt(linear * linear + 4 * square * (most - constant));
    return (root - linear) / (2 * square);
  }
  return linear > 0 ? (most - constant) / linear : Number.POSITIVE_INFINITY;
}

/** Returns the scale for relative errors. It is at least 1, so that small counts do not have huge errors. */
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

/** Solves linear equations by Gauss-Jordan elimination. Each row ends with its right-hand side. */
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
