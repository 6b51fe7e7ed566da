/** Arguments of a run of the benchmark. */
import { parseArgs } from 'node:util';

export const scenarioNames = ['handover', 'crash', 'start', 'scale', 'idle'] as const;
export type ScenarioName = (typeof scenarioNames)[number];

export interface Asked {
  readonly scenarios: readonly ScenarioName[];
  /** Parts of contenders' names. Empty for all contenders. */
  readonly contenders: readonly string[];
  /** Replaces the number of rounds of each scenario. */
  readonly rounds: number | null;
  readonly isQuick: boolean;
  /** Numbers of participants. */
  readonly sizes: readonly number[];
  /** Null for the tables of the project's reports. */
  readonly out: string | null;
  /** The arguments as given. */
  readonly given: readonly string[];
}

/** Throws for invalid arguments. */
export function readArguments(given: readonly string[]): Asked {
  const { values } = parseArgs({
    args: [...given],
    options: {
      scenario: { type: 'string', multiple: true },
      contender: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      large: { type: 'boolean', default: false },
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
    out: values.out ?? null,
    given,
  };
}

function scenarioNamed(text: string): ScenarioName {
  const found = scenarioNames.find((name) => name === text);
  if (found === undefined) throw new Error(`--scenario is one of ${scenarioNames.join(', ')}, not ${text}`);
  return found;
}
