/**
 * Ranks nodes by their measurements: by one score, or by several in order of priority. The values of each
 * score are divided into classes, and differences within a class do not count. A node is better than the
 * leader only if it is better by a margin.
 *
 * The margin favours only the leader, and it applies to each score separately. If a value is better than the
 * leader's by less than the margin, it counts as being in the leader's class. Each score therefore still
 * orders the nodes by class, and the result still orders them by grade. If a node is better than the leader
 * with the margin, it is also better without the margin.
 *
 * Not promised: that the leader is the best node. The only certainty is that no other node is better by the
 * margin.
 */
import type { Score } from '../src/model/scores.js';
import type { Candidate, Ranked, StrategyInput } from '../src/model/strategy.js';
import { gradeBy } from './grade.js';
import type { Margin } from './score-options.js';

/** The reading of one score for one candidate. */
export interface Reading {
  /**
   * Value of the score. Null if unknown. A candidate without a value ranks after all candidates with a value.
   */
  readonly value: Score | null;
  /**
   * Number of missing measurements among those that the value depends on. Fewer is better, regardless of the
   * values, because values with different numbers of missing measurements are not comparable.
   */
  readonly missing: number;
  /** The value with its unit, as text for display. */
  readonly text: string;
}

export interface Criterion {
  /** The readings of all candidates, keyed by node id. */
  readonly readings: ReadonlyMap<string, Reading>;
  readonly better: 'higher' | 'lower';
  /**
   * Width of a class. Values from one multiple of the width up to the next are in the same class and count as
   * equal. With width 0, only equal values are in the same class.
   */
  readonly width: number;
  readonly margin: Margin;
  /** Unit of the values, with a leading space. */
  readonly unit: '' | ' ms';
}

/** Text for the tie-break rule, which applies to candidates that are equal by all criteria. */
const tie = 'the leader ranks first, then the higher node id';

type ConstraintContext = Pick<StrategyInput<unknown>, 'candidates' | 'incumbent'>;

/**
 * Ranks by the first criterion. Candidates that are equal by one criterion are ranked by the next. If
 * candidates are equal by all criteria, the current leader comes first, followed by the other nodes in
 * descending order of node ids (Becker et al. 2011).
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
  /** The class in which the value is counted. Null if there is no value. */
  readonly counted: Score | null;
  /** Whether the value is in a better class than the leader's value, but is not better by the margin. */
  readonly isHeld: boolean;
}

const unknown: Standing = {
  value: null,
  missing: 0,
  text: 'no measurements',
  counted: null,
  isHeld: false,
};

/** The order of candidates by one criterion, relative to the current leader. */
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

  /** Returns a negative number if `a` is better than `b`. */
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

/** Removes rounding errors from a class boundary: 3 * 0.1 is 0.30000000000000004. */
function bound(value: number): number {
  return Number(value.toPrecision(15));
}

/** Returns the number of the class that contains a value. Returns the value itself if the width is 0. */
function classOf(value: Score, width: number): Score {
  if (width === 0) return value;
  if (!Number.isInteger(width) || !isWhole(value)) return Math.floor(Number(value) / width);
  const [whole, size] = [BigInt(value), BigInt(width)];
  return (whole - (((whole % size) + size) % size)) / size;
}

/**
 * Returns `a - b`. The result is exact if both values are whole numbers, because a position in a log may need
 * 64 bits.
 */
function difference(a: Score, b: Score): Score {
  return isWhole(a) && isWhole(b) ? BigInt(a) - BigInt(b) : Number(a) - Number(b);
}

function isWhole(value: Score): boolean {
  return typeof value === 'bigint' || Number.isInteger(value);
}

/**
 * Returns the value as a number. Returns null if there is no value, or if a number cannot represent it
 * exactly.
 */
function asNumber(value: Score | null): number | null {
  if (value === null) return null;
  const number = Number(value);
  return Number.isFinite(number) && (typeof value === 'number' || Number.isSafeInteger(number))
    ? number
    : null;
}
