/** Formats counts at several sizes, and the law that they follow, as a table. */
import { table } from '../report.js';
import { type Law, lawAt, lawOf, offShare, type Point } from './law.js';

export type Unit = 'count' | 'bytes';

export interface Series {
  readonly name: string;
  readonly unit: Unit;
  readonly points: readonly Point[];
}

/** The quantity that grows, such as the number of nodes or of groups. */
export interface Variable {
  readonly name: string;
  /** Relative error up to which a law without a square is accepted. See `lawOf`. */
  readonly straightWithin: number;
  /** Sizes for which counts are extrapolated. */
  readonly beyond: readonly number[];
}

export const nodes: Variable = { name: 'N', straightWithin: 0.2, beyond: [10_000] };
/**
 * Groups are independent, so a linear fit is always accepted. A deviation from it is either random or must be
 * investigated.
 */
export const groups: Variable = {
  name: 'G',
  straightWithin: Number.POSITIVE_INFINITY,
  beyond: [10_000, 100_000],
};

export function seriesTable(
  all: readonly Series[],
  { name: variable, straightWithin, beyond }: Variable,
): string {
  const sizes = [...new Set(all.flatMap(({ points }) => points.map(({ size }) => size)))];
  const head = ['', ...sizes.map(count), 'law', 'off by', 'predicted within', ...beyond.map(count)];
  const rows = all.map((series) => {
    const law = lawOf(series.points, straightWithin);
    const say = series.unit === 'bytes' ? bytes : count;
    return [
      series.name,
      ...sizes.map((size) => {
        const found = series.points.find((point) => point.size === size);
        return found === undefined ? '–' : say(found.value);
      }),
      lawText(law, variable, series.unit),
      share(offShare(law, series.points)),
      predictionError(series.points, straightWithin),
      ...beyond.map((size) => say(lawAt(law, size))),
    ];
  });
  return table(head, rows);
}

/** Returns the error of a prediction: the law of all other sizes, applied to the largest size. */
function predictionError(points: readonly Point[], straightWithin: number): string {
  const [last] = points.slice(-1);
  const before = points.slice(0, -1);
  if (last === undefined || before.length < 2) return '–';
  return share(offShare(lawOf(before, straightWithin), [last]));
}

export function lawText(law: Law, variable: string, unit: Unit): string {
  const say = unit === 'bytes' ? bytes : figure;
  const names = ['', ` ${variable}`, ` ${variable}²`];
  const terms = law.flatMap((term, power) => (term === 0 ? [] : [`${say(term)}${names[power] ?? ''}`]));
  return terms.length === 0 ? '0' : terms.join(' + ');
}

export function count(value: number): string {
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : figure(value);
}

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

export function bytes(value: number): string {
  const power = Math.max(0, Math.min(byteUnits.length - 1, Math.floor(Math.log10(Math.max(value, 1)) / 3)));
  return `${figure(value / 1000 ** power)} ${byteUnits[power]}`;
}

/** Formats a number with three significant digits. */
function figure(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en', { maximumSignificantDigits: 3 });
}

function share(value: number): string {
  const percent = value * 100;
  return `${percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
}
