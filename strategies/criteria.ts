/**
 * Ranks nodes by their measurements: by one score, or by several in order of priority. Each score is divided
 * into classes, and differences within a class do not count. A node is better than the leader only by a
 * margin.
 *
 * The margin favors only the leader and applies to each score separately. A value that is better than the
 * leader's by less than the margin counts as in the leader's class. So each score remains an order of
 * classes, and the whole remains an order of grades. A node that is better than the leader with the margin is
 * also better without it.
 *
 * Not promised: that the leader is the best. No other node is clearly better.
 */
import type { Score } from '../src/model/scores.js';
import type { Candidate, Ranked, StrategyInput } from '../src/model/strategy.js';
import { gradeBy } from './grade.js';
import type { Margin } from './score-options.js';

/** One score of one candidate. */
export interface Reading {
  /** Null if unknown. Such a candidate ranks after all that have a value. */
  readonly value: Score | null;
  /**
   * How many of the measurements it depends on are missing. Fewer is better, whatever the values, because the
   * values are not comparable.
   */
  readonly missing: number;
  /** For display, with units. */
  readonly text: string;
}

export interface Criterion {
  /** The readings of all candidates, by node id. */
  readonly readings: ReadonlyMap<string, Reading>;
  readonly better: 'higher' | 'lower';
  /**
   * Width of a class. Values in one class, from a multiple of the width to the next, count as equal. With 0,
   * only equal values do.
   */
  readonly width: number;
  readonly margin: Margin;
  /** Includes the leading blank. */
  readonly unit: '' | ' ms';
}

/** The rule for candidates that are equal by all criteria. */
const tie = 'the leader ranks first, then the higher node id';

type ConstraintContext = Pick<StrategyInput<unknown>, 'candidates' | 'incumbent'>;

/**
 * Ranks by the first criterion, then by the next if candidates are equal, and so on. Ties go to the higher
 * node id (Becker et al. 2011), but the current leader comes first.
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
  /** The class that the value counts in. Null if there is no value. */
  readonly counted: Score | null;
  /** Whether the value is in a better class than the leader's, but not by the margin. */
  readonly isHeld: boolean;
}

const unknown: Standing = {
  value: null,
  missing: 0,
  text: 'no measurements',
  counted: null,
  isHeld: false,
};

/** The order by one criterion, relative to the current leader. */
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

  /** Negative if `a` is better. */
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

/** Returns the number of the class that contains a value, or the value itself if the width is 0. */
function classOf(value: Score, width: number): Score {
  if (width === 0) return value;
  if (!Number.isInteger(width) || !isWhole(value)) return Math.floor(Number(value) / width);
  const [whole, size] = [BigInt(value), BigInt(width)];
  return (whole - (((whole % size) + size) % size)) / size;
}

/** The result is exact if both are whole numbers: a position in a log may need 64 bits. */
function difference(a: Score, b: Score): Score {
  return isWhole(a) && isWhole(b) ? BigInt(a) - BigInt(b) : Number(a) - Number(b);
}

function isWhole(value: Score): boolean {
  return typeof value === 'bigint' || Number.isInteger(value);
}

/** Returns null if there is no value, or if a number would not represent it exactly. */
function asNumber(value: Score | null): number | null {
  if (value === null) return null;
  const number = Number(value);
  return Number.isFinite(number) && (typeof value === 'number' || Number.isSafeInteger(number))
    ? number
    : null;
}
