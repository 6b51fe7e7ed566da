/**
 * Ranking by what nodes measure: by one score, or by several in order of priority. A score is cut into classes, within
 * which differences do not count, and another than the leader is better only by a margin.
 *
 * The margin is given to the leader alone, and score by score: a value that is better than the leader's by less than
 * the margin counts as one of the leader's own class. So each score remains an order of classes, and the whole an
 * order of grades; and whoever is better than the leader with the margin is better without it.
 *
 * Not promised: that the leader is the best. It is one that nobody is clearly better than.
 */
import type { Score } from '../src/core/scores.js';
import type { Candidate, Ranked, StrategyInput } from '../src/core/strategy.js';
import { gradeBy } from './grade.js';
import type { Margin } from './score-options.js';

/** What one score says of one candidate. */
export interface Reading {
  /** Null where it cannot be told: such a candidate comes after all that have one. */
  readonly value: Score | null;
  /** How many measurements that it rests on are missing. Fewer is better, whatever the values: they are not comparable. */
  readonly missing: number;
  /** For people, with units. */
  readonly text: string;
}

export interface Criterion {
  /** Of every candidate, by node id. */
  readonly readings: ReadonlyMap<string, Reading>;
  readonly better: 'higher' | 'lower';
  /** Values in one class count as equal: from a multiple of it to the next. 0: only equal values do. */
  readonly width: number;
  readonly margin: Margin;
  /** With the blank before it. */
  readonly unit: '' | ' ms';
}

type Context = Pick<StrategyInput<unknown>, 'candidates' | 'incumbent'>;

/** Ranks by the first criterion, by the next where that leaves candidates equal, and so on; ties go to the higher node
 * id (Becker et al. 2011, section 3), but to whoever leads before all others. */
export function rankBy({ candidates, incumbent }: Context, criteria: readonly Criterion[]): Ranked[] {
  const scales = criteria.map((criterion) => new Scale(criterion, incumbent));
  const levels = scales.map((scale) => levelsOf(scale, candidates));
  const compare = (a: Candidate, b: Candidate) => {
    const decides = levels.find((level) => level.get(a.node) !== level.get(b.node));
    return (decides?.get(a.node) ?? 0) - (decides?.get(b.node) ?? 0);
  };
  const tie = (a: Candidate, b: Candidate) => {
    if (a.node === incumbent) return -1;
    return b.node === incumbent || a.node < b.node ? 1 : -1;
  };
  return gradeBy(candidates, compare, tie).map(({ candidate: { node }, grade }) => {
    const score = asNumber(criteria[0]?.readings.get(node)?.value ?? null);
    const reason = scales.map((scale) => scale.reason(node)).join('; ');
    return score === null ? { node, grade, reason } : { node, grade, reason, score };
  });
}

function levelsOf(scale: Scale, candidates: readonly Candidate[]): ReadonlyMap<string, number> {
  const graded = gradeBy(candidates, (a, b) => scale.compare(a.node, b.node));
  return new Map(graded.map(({ candidate, grade }) => [candidate.node, grade]));
}

const unknown: Reading = { value: null, missing: 0, text: 'nothing is known of it' };

/** The order that one criterion makes, seen from whoever leads. */
class Scale {
  readonly #criterion: Criterion;
  readonly #incumbent: string | null;
  /** What the leader has; null where that cannot be compared, or nobody leads. */
  readonly #held: { readonly value: Score; readonly missing: number } | null;

  constructor(criterion: Criterion, incumbent: string | null) {
    this.#criterion = criterion;
    this.#incumbent = incumbent;
    const { value, missing } = criterion.readings.get(incumbent ?? '') ?? unknown;
    this.#held = value === null ? null : { value, missing };
  }

  /** Negative where `a` is better. */
  compare(a: string, b: string): number {
    const one = this.#reading(a);
    const other = this.#reading(b);
    if (one.value === null || other.value === null) {
      return Number(one.value === null) - Number(other.value === null) || one.missing - other.missing;
    }
    if (one.missing !== other.missing) return one.missing - other.missing;
    return this.#order(this.#class(one), this.#class(other));
  }

  reason(node: string): string {
    const { width, margin, unit } = this.#criterion;
    const reading = this.#reading(node);
    if (reading.value === null) return reading.text;
    const from = asNumber(classOf(reading.value, width));
    const among =
      width > 0 && from !== null
        ? `, in the class from ${bound(from * width)} to below ${bound((from + 1) * width)}${unit}`
        : '';
    const held = this.#isWithinMargin(reading)
      ? `, better than ${this.#incumbent}, which leads, by less than ${margin.text}${margin.isShare ? '' : unit}`
      : '';
    return `${reading.text}${among}${held}`;
  }

  #reading(node: string): Reading {
    return this.#criterion.readings.get(node) ?? unknown;
  }

  #class({ value, missing }: Reading): Score {
    const counted = this.#isWithinMargin({ value, missing }) ? (this.#held?.value ?? 0) : (value ?? 0);
    return classOf(counted, this.#criterion.width);
  }

  /** Of a better class than the leader, but not by the margin. */
  #isWithinMargin({ value, missing }: Pick<Reading, 'value' | 'missing'>): boolean {
    const { width, margin, better } = this.#criterion;
    const held = this.#held;
    if (held === null || value === null || missing !== held.missing) return false;
    if (this.#order(classOf(value, width), classOf(held.value, width)) >= 0) return false;
    const gain = better === 'higher' ? difference(value, held.value) : difference(held.value, value);
    return !(gain >= margin.of(held.value));
  }

  #order(a: Score, b: Score): number {
    const ascending = a < b ? -1 : a > b ? 1 : 0;
    return this.#criterion.better === 'higher' ? -ascending : ascending;
  }
}

/** 3 * 0.1 is 0.30000000000000004. */
function bound(value: number): number {
  return Number(value.toPrecision(15));
}

/** The number of the class that a value falls in, or the value itself where each is a class of its own. */
function classOf(value: Score, width: number): Score {
  if (width === 0) return value;
  if (!Number.isInteger(width) || !isWhole(value)) return Math.floor(Number(value) / width);
  const [whole, size] = [BigInt(value), BigInt(width)];
  return (whole - (((whole % size) + size) % size)) / size;
}

/** Exact where both are whole: a position in a log may need 64 bits. */
function difference(a: Score, b: Score): Score {
  return isWhole(a) && isWhole(b) ? BigInt(a) - BigInt(b) : Number(a) - Number(b);
}

function isWhole(value: Score): boolean {
  return typeof value === 'bigint' || Number.isInteger(value);
}

/** Null where a number would not hold it exactly, or it is none. */
function asNumber(value: Score | null): number | null {
  if (value === null) return null;
  const number = Number(value);
  return Number.isFinite(number) && (typeof value === 'number' || Number.isSafeInteger(number))
    ? number
    : null;
}
