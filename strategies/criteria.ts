/**
 * Ranking by what nodes measure: by one score, or by several in order of priority. A score is cut into
 * classes, within which differences do not count, and another than the leader is better only by a margin.
 *
 * The margin is given to the leader alone, and score by score: a value that is better than the leader's by
 * less than the margin counts as one of the leader's own class. So each score remains an order of classes,
 * and the whole an order of grades; and whoever is better than the leader with the margin is better without
 * it.
 *
 * Not promised: that the leader is the best. It is one that nobody is clearly better than.
 */
import type { Score } from '../src/model/scores.js';
import type { Candidate, Ranked, StrategyInput } from '../src/model/strategy.js';
import { gradeBy } from './grade.js';
import type { Margin } from './score-options.js';

/** What one score says of one candidate. */
export interface Reading {
  /** Null where it cannot be told: such a candidate comes after all that have one. */
  readonly value: Score | null;
  /**
   * How many measurements that it rests on are missing. Fewer is better, whatever the values: they are not
   * comparable.
   */
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

/** The rule for candidates that all criteria leave equal. */
const tie = 'the leader ranks first, then the higher node id';

type ConstraintContext = Pick<StrategyInput<unknown>, 'candidates' | 'incumbent'>;

/**
 * Ranks by the first criterion, by the next where that leaves candidates equal, and so on; ties go to the
 * higher node id (Becker et al. 2011), but to whoever leads before all others.
 */
export function rankBy(
  { candidates, incumbent }: ConstraintContext,
  criteria: readonly Criterion[],
): Ranked[] {
  const scales = criteria.map((criterion) => new Scale(criterion, incumbent));
  const levels = scales.map((scale) => levelsOf(scale, candidates));
  const compare = (a: Candidate, b: Candidate) => {
    const decides = levels.find((level) => level.get(a.node) !== level.get(b.node));
    return (decides?.get(a.node) ?? 0) - (decides?.get(b.node) ?? 0);
  };
  const byTie = (a: Candidate, b: Candidate) => {
    if (a.node === incumbent) return -1;
    return b.node === incumbent || a.node < b.node ? 1 : -1;
  };
  return gradeBy(candidates, compare, byTie).map(({ candidate: { node }, grade }) => {
    const score = asNumber(criteria[0]?.readings.get(node)?.value ?? null);
    const reason = scales.map((scale) => scale.reason(node)).join('; ');
    const ranked = { node, grade, reason, tie };
    return score === null ? ranked : { ...ranked, score };
  });
}

function levelsOf(scale: Scale, candidates: readonly Candidate[]): ReadonlyMap<string, number> {
  const graded = gradeBy(candidates, (a, b) => scale.compare(a.node, b.node));
  return new Map(graded.map(({ candidate, grade }) => [candidate.node, grade]));
}

interface Standing extends Reading {
  /** The class that it counts as one of; null where there is no value. */
  readonly counted: Score | null;
  /** Of a better class than the leader, but not by the margin. */
  readonly isHeld: boolean;
}

const unknown: Standing = {
  value: null,
  missing: 0,
  text: 'no measurements',
  counted: null,
  isHeld: false,
};

/** The order that one criterion makes, seen from whoever leads. */
class Scale {
  readonly #criterion: Criterion;
  readonly #incumbent: string | null;
  readonly #standings: ReadonlyMap<string, Standing>;

  constructor(criterion: Criterion, incumbent: string | null) {
    this.#criterion = criterion;
    this.#incumbent = incumbent;
    const { readings } = criterion;
    const leader = (incumbent === null ? undefined : readings.get(incumbent)) ?? unknown;
    this.#standings = new Map(
      [...readings].map(([node, reading]) => [node, this.#standing(reading, leader)]),
    );
  }

  /** Negative where `a` is better. */
  compare(a: string, b: string): number {
    const one = this.#of(a);
    const other = this.#of(b);
    if (one.counted === null || other.counted === null) {
      return Number(one.counted === null) - Number(other.counted === null) || one.missing - other.missing;
    }
    return one.missing - other.missing || this.#order(one.counted, other.counted);
  }

  reason(node: string): string {
    const { width, margin, unit } = this.#criterion;
    const { value, text, isHeld } = this.#of(node);
    if (value === null) return text;
    const from = asNumber(classOf(value, width));
    const among =
      width > 0 && from !== null
        ? `, in the class from ${bound(from * width)} to below ${bound((from + 1) * width)}${unit}`
        : '';
    const held = isHeld
      ? `, better than the leader ${this.#incumbent} by less than the margin of ${margin.text}${margin.isShare ? '' : unit}`
      : '';
    return `${text}${among}${held}`;
  }

  #of(node: string): Standing {
    return this.#standings.get(node) ?? unknown;
  }

  #standing(reading: Reading, leader: Reading): Standing {
    const { value, missing } = reading;
    if (value === null) return { ...reading, counted: null, isHeld: false };
    const own = classOf(value, this.#criterion.width);
    if (leader.value === null || missing !== leader.missing)
      return { ...reading, counted: own, isHeld: false };
    const leaders = classOf(leader.value, this.#criterion.width);
    const isHeld = this.#order(own, leaders) < 0 && !this.#isBeyondMargin(value, leader.value);
    return { ...reading, counted: isHeld ? leaders : own, isHeld };
  }

  #isBeyondMargin(value: Score, leaders: Score): boolean {
    const { margin, better } = this.#criterion;
    const gain = better === 'higher' ? difference(value, leaders) : difference(leaders, value);
    return gain >= margin.of(leaders);
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
