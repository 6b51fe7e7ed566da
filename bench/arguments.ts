/** Reads the arguments of a benchmark run. */
import { parseArgs } from 'node:util';
import { durationMs } from '../src/model/duration.js';

export const scenarioNames = ['handover', 'crash', 'start', 'scale', 'idle'] as const;
export type ScenarioName = (typeof scenarioNames)[number];

export interface BenchArguments {
  readonly scenarios: readonly ScenarioName[];
  /** Parts of the names of the contenders to run. An empty list selects all contenders. */
  readonly contenders: readonly string[];
  /** Replaces the number of rounds of each scenario. Null keeps the default numbers. */
  readonly rounds: number | null;
  readonly isQuick: boolean;
  /** Numbers of participants to measure. */
  readonly sizes: readonly number[];
  /** Time that all nodes run undisturbed before each planned handover, in milliseconds. */
  readonly settleMs: number;
  /** Directory of a built checkout of Petrel that takes part as another contender. Null if there is none. */
  readonly against: string | null;
  /** Output directory. Null selects the directory of the project's report tables. */
  readonly out: string | null;
  /** The arguments in their original form. */
  readonly given: readonly string[];
}

/** Throws if an argument is invalid. */
export function readArguments(given: readonly string[]): BenchArguments {
  const { values } = parseArgs({
    args: [...given],
    options: {
      scenario: { type: 'string', multiple: true },
      contender: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      large: { type: 'boolean', default: false },
      settle: { type: 'string', default: '0s' },
      against: { type: 'string' },
      out: { type: 'string' },
    },
  });
  const rounds = values.rounds === undefined ? null : Number(values.rounds);
  if (rounds !== null && !(Number.isInteger(rounds) && rounds > 0))
    throw new Error(`--rounds takes a whole number above 0, not ${values.rounds}`);
  return {
    scenarios: values.scenario === undefined ? scenarioNames : values.scenario.map(scenarioNamed),
    contenders: values.contender ?? [],
    rounds,
    isQuick: values.quick,
    sizes: values.large ? [10, 100, 500, 1_000] : [10, 100],
    settleMs: durationMs(values.settle),
    against: values.against ?? null,
    out: values.out ?? null,
    given,
  };
}

function scenarioNamed(text: string): ScenarioName {
  const found = scenarioNames.find((name) => name === text);
  if (found === undefined) throw new Error(`--scenario is one of ${scenarioNames.join(', ')}, not ${text}`);
  return found;
}
