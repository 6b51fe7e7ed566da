/** Runs one election and compares it with theory. */
import { algorithms } from '../../packages/lab/src/algorithms/index.js';
import { conditionsSchema } from '../../packages/lab/src/conditions.js';
import { type Result, resultOf, runsOf, runTask, tasksOf } from '../../packages/lab/src/experiment.js';

/** Runs an election and compares it with theory. Throws if there is no election of this name. */
export async function experiment(
  name: string,
  given: Record<string, unknown>,
  runs = 1,
  seed = 1,
): Promise<Result> {
  const one = { algorithm: name, conditions: conditionsSchema.parse(given) };
  const tasks = tasksOf([one], runs, seed);
  return resultOf(one, runsOf(tasks, await Promise.all(tasks.map(runTask)))(one, seed));
}

/** Returns the expectations of theory that the runs do not confirm. */
export function broken(result: Result): string[] {
  return result.theory
    .filter(({ holds }) => !holds)
    .map(({ measure, expected, measured }) => `${measure}: ${measured?.mean} instead of ${expected}`);
}

export function mean(result: Result, measure: string): number {
  return result.measures[measure]?.mean ?? Number.NaN;
}

export const everyAlgorithm = [...algorithms.keys()];
