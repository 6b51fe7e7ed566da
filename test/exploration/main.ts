/** Explores scenarios and prints the results: `npm run explore -- --help`. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { Explorer } from './explore.js';
import { explorationOf, type Scenario, scenarioOf, scenarios } from './scenarios.js';

function wholeNumber(least: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value;
    throw new InvalidArgumentError(`It is a whole number, ${least} or more.`);
  };
}

/** Exit code if no scenario was explored. */
const misused = 2;

const program = new Command('npm run explore --')
  .description(
    'Every order of the steps of small groups, with faults among them. Ends with 1 where an invariant is broken or a frontier was not exhausted.',
  )
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : misused))
  .addOption(
    new Option('--scenario <name...>', 'these alone; default: all').choices(
      scenarios.map(({ name }) => name),
    ),
  )
  .option('--faults <n>', 'how many faults, instead of as many as the scenario allows', wholeNumber(0))
  .option('--max <n>', 'number of states after which to give a scenario up', wholeNumber(1), 20_000_000)
  .parse();
const {
  scenario: names,
  faults,
  max,
} = program.opts<{ scenario?: string[]; faults?: number; max: number }>();

function explored(scenario: Scenario): boolean {
  const { faults: kinds, maxFaults, name, about, goal } = scenario;
  const result = new Explorer(explorationOf(scenario)).run({ maxStates: max });
  const { states, transitions, depth, seconds, cpuSeconds, isExhausted, seen, finding } = result;
  const of = maxFaults === 0 ? '' : ` of ${kinds.join(', ')}`;
  console.log(`${name}: ${about}; faults: ${maxFaults}${of}`);
  const time = `${seconds.toFixed(1)} s (${cpuSeconds.toFixed(1)} s of CPU)`;
  const frontier = isExhausted ? 'frontier exhausted' : 'FRONTIER NOT EXHAUSTED';
  console.log(`  ${states} states, ${transitions} transitions, depth ${depth}, ${time}, ${frontier}`);
  if (goal !== undefined) console.log(`  seen ${seen} times: ${goal.what}`);
  if (finding !== null) console.log(`  BROKEN: ${finding.what}\n    ${finding.trace.join('\n    ')}`);
  return isExhausted && finding === null;
}

const chosen = names === undefined ? scenarios : names.map((name) => scenarioOf(name));
const results = chosen.map((scenario) =>
  explored(faults === undefined ? scenario : { ...scenario, maxFaults: faults }),
);
if (results.includes(false)) process.exitCode = 1;
