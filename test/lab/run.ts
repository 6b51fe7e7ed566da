/** Runs one election and compares it with theory. */
import { algorithms } from '../../packages/lab/src/algorithms/index.js';
import { conditionsSchema } from '../../packages/lab/src/conditions.js';
import { type Result, resultsOf, runTask, tasksOf } from '../../packages/lab/src/experiment.js';

/** Runs an election and compares it with theory. Throws if there is no election of this name. */
export async function experiment(
  name: string,
  given: Record<string, unknown>,
  runs = 1,
  seed = 1,
): Promise<Result> {
  const cases = [{ algorithm: name, conditions: conditionsSchema.parse(given) }];
  const tasks = tasksOf(cases, runs, seed);
  const [result] = resultsOf(cases, tasks, await Promise.all(tasks.map(runTask)));
  if (result === undefined) throw new Error(`nothing was run of ${name}`);
  return result;
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
