/** Runs many elections under many conditions, summarizes them, and compares the results with theory. */

import * as z from 'zod';
import { algorithms } from './algorithms/index.js';
import { type Conditions, conditionsSchema } from './conditions.js';
import type { Expectation } from './protocol.js';
import { seedOf } from './random.js';
import type { Measures } from './simulate.js';
import { type Summary, summarize, summarySchema, toleranceOf } from './statistics.js';

export interface Case {
  readonly algorithm: string;
  readonly conditions: Conditions;
}

/** Several runs of one case that are executed together. */
export const taskSchema = z.object({
  algorithm: z.string(),
  conditions: conditionsSchema,
  seed: z.int(),
  from: z.int(),
  to: z.int(),
});
export type Task = z.infer<typeof taskSchema>;

export const judgedSchema = z.object({
  measure: z.string(),
  kind: z.enum(['exact', 'mean', 'at most', 'at least']),
  expected: z.number(),
  source: z.string(),
  /** Null if no run has produced this measure. */
  measured: summarySchema.nullable(),
  /**
   * Whether the measurement confirms the expectation. A measured mean must be within three standard errors of
   * the expected value. For few runs, the equivalent quantile of Student's t replaces the number three. Any
   * other expectation must be met in every run. Null if there are too few runs to decide.
   */
  holds: z.boolean().nullable(),
});
export type Judged = z.infer<typeof judgedSchema>;

export const resultSchema = z.object({
  algorithm: z.string(),
  title: z.string(),
  conditions: conditionsSchema,
  runs: z.int(),
  measures: z.record(z.string(), summarySchema),
  theory: z.array(judgedSchema),
});
export type Result = z.infer<typeof resultSchema>;

/**
 * Number of simulated nodes per task, counted over all its runs. This makes all tasks take about the same
 * time.
 */
const nodesOfTask = 1000;

export function tasksOf(cases: readonly Case[], runs: number, seed: number): Task[] {
  return cases.flatMap(({ algorithm, conditions }) => {
    const size = Math.max(1, Math.floor(nodesOfTask / conditions.nodes));
    return Array.from({ length: Math.ceil(runs / size) }, (_, index) => {
      return { algorithm, conditions, seed, from: index * size, to: Math.min(runs, (index + 1) * size) };
    });
  });
}

/**
 * Runs a task. A run's seed depends only on the base seed, the case and the number of the run. It does not
 * depend on the worker or on other tasks.
 */
export async function runTask({ algorithm, conditions, seed, from, to }: Task): Promise<Measures[]> {
  const one = algorithms.get(algorithm);
  if (one === undefined) throw new RangeError(`unknown election ${algorithm}`);
  const key = JSON.stringify(conditions);
  const measures: Measures[] = [];
  for (let index = from; index < to; index += 1) {
    measures.push(await one.run(conditions, seedOf(seed, algorithm, key, index)));
  }
  return measures;
}

/** Returns the measures of all runs of one case with one seed. */
export type RunsOf = (one: Case, seed: number) => readonly Measures[];

/** `measured` contains the measures of each task, in the order of `tasks`. */
export function runsOf(tasks: readonly Task[], measured: readonly (readonly Measures[])[]): RunsOf {
  const known = new Map<Conditions, Map<string, Measures[]>>();
  const keyOf = (algorithm: string, seed: number) => `${algorithm} ${seed}`;
  for (const [index, { algorithm, conditions, seed }] of tasks.entries()) {
    const own = known.get(conditions) ?? new Map<string, Measures[]>();
    const key = keyOf(algorithm, seed);
    known.set(conditions, own.set(key, [...(own.get(key) ?? []), ...(measured[index] ?? [])]));
  }
  return ({ algorithm, conditions }, seed) => known.get(conditions)?.get(keyOf(algorithm, seed)) ?? [];
}

/** Summarizes the runs of a case, and compares them with theory. */
export function resultOf({ algorithm: name, conditions }: Case, all: readonly Measures[]): Result {
  const one = algorithms.get(name);
  const columns = new Map<string, number[]>();
  for (const measures of all) {
    for (const [measure, value] of Object.entries(measures)) {
      const values = columns.get(measure) ?? [];
      values.push(value);
      columns.set(measure, values);
    }
  }
  const measures = Object.fromEntries([...columns].map(([measure, values]) => [measure, summarize(values)]));
  return {
    algorithm: name,
    title: one?.title ?? name,
    conditions,
    runs: all.length,
    measures,
    theory: (one?.expect(conditions) ?? []).map((expectation) => judge(expectation, measures)),
  };
}

function judge(
  { value, ...rest }: Expectation,
  measures: Readonly<Record<string, Summary | undefined>>,
): Judged {
  const measured = measures[rest.measure] ?? null;
  const isBound = rest.kind === 'at most' || rest.kind === 'at least';
  const holds = measured === null ? (isBound ? null : false) : isHeld(rest.kind, value, measured);
  return { ...rest, expected: value, measured, holds };
}

function isHeld(kind: Expectation['kind'], value: number, measured: Summary): boolean | null {
  const { mean, least, most } = measured;
  const grain = 1e-9 * Math.max(1, Math.abs(value));
  switch (kind) {
    case 'exact':
      return Math.abs(least - value) <= grain && Math.abs(most - value) <= grain;
    case 'at most':
      return most <= value + grain;
    case 'at least':
      return least >= value - grain;
    case 'mean': {
      const tolerance = toleranceOf(measured);
      return tolerance === null ? null : Math.abs(mean - value) <= tolerance + grain;
    }
  }
}
