/** Collects the benchmark's samples, and computes their statistics. */

export interface Sample {
  readonly scenario: string;
  readonly contender: string;
  readonly measure: string;
  readonly value: number;
}

export interface Spread {
  readonly count: number;
  readonly median: number;
  /** The 10 % quantile. The field `high` is the 90 % quantile. */
  readonly low: number;
  readonly high: number;
}

/** Returns a quantile by linear interpolation between neighbours. Returns NaN if there are no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export class Samples {
  readonly all: Sample[] = [];
  readonly #order: readonly string[];

  /** @param order order of the contenders; those that it does not name come last */
  constructor(order: readonly string[] = []) {
    this.#order = order;
  }

  add(scenario: string, contender: string, measure: string, value: number): void {
    this.all.push({ scenario, contender, measure, value });
  }

  /** Returns the spread of a measure. Returns null if nothing was measured. */
  spread(scenario: string, contender: string, measure: string): Spread | null {
    const values = this.all
      .filter((one) => one.scenario === scenario && one.contender === contender && one.measure === measure)
      .map(({ value }) => value);
    if (values.length === 0) return null;
    return {
      count: values.length,
      median: median(values),
      low: quantile(values, 0.1),
      high: quantile(values, 0.9),
    };
  }

  /** Returns the contenders that have samples of a measure. */
  contenders(scenario: string, measure: string): string[] {
    const those = this.all.filter((one) => one.scenario === scenario && one.measure === measure);
    return [...new Set(those.map(({ contender }) => contender))].toSorted(
      (one, other) => this.#place(one) - this.#place(other),
    );
  }

  #place(contender: string): number {
    const place = this.#order.indexOf(contender);
    return place === -1 ? this.#order.length : place;
  }

  scenarios(): string[] {
    return [...new Set(this.all.map(({ scenario }) => scenario))];
  }
}
