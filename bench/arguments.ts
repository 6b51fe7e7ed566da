/** Reads the arguments of a benchmark run. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { wholeNumber } from '../src/cli/arguments.js';
import { errorMessage } from '../src/errors.js';
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

interface Flags {
  readonly scenario: readonly ScenarioName[];
  readonly contender: readonly string[];
  readonly rounds?: number;
  readonly quick?: true;
  readonly large?: true;
  readonly settle: number;
  readonly against?: string;
  readonly out?: string;
}

/** Reads the arguments. Throws CommanderError after printing the help, or if an argument is invalid. */
export function readArguments(given: readonly string[]): BenchArguments {
  const { scenario, contender, rounds, quick, large, settle, against, out } = new Command('npm run bench --')
    .description('Measures Petrel and its peers in one run: docs/reports/benchmarks.md explains the results.')
    .addOption(
      new Option('--scenario <names...>', 'what to measure').choices(scenarioNames).default(scenarioNames),
    )
    .option('--contender <parts...>', 'only contenders whose names contain one of these', [])
    .option('--rounds <n>', 'rounds of each scenario', wholeNumber(1, 1_000_000))
    .option('--quick', 'a few rounds')
    .option('--large', 'also with 500 and 1,000 participants')
    .option(
      '--settle <time>',
      'how long all nodes run undisturbed before each planned handover',
      milliseconds,
      0,
    )
    .option('--against <folder>', 'a built checkout of Petrel that takes part as another contender')
    .option('--out <folder>', "for the results; default: the project's report tables")
    .exitOverride()
    .parse(given, { from: 'user' })
    .opts<Flags>();
  return {
    scenarios: scenario,
    contenders: contender,
    rounds: rounds ?? null,
    isQuick: quick ?? false,
    sizes: large === true ? [10, 100, 500, 1_000] : [10, 100],
    settleMs: settle,
    against: against ?? null,
    out: out ?? null,
    given,
  };
}

function milliseconds(text: string): number {
  try {
    return durationMs(text);
  } catch (error) {
    throw new InvalidArgumentError(errorMessage(error));
  }
}
