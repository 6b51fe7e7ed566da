/**
 * `npm run explore`: explores every scenario, or one (`-- --scenario NAME`), and prints what was found. Ends with 1 where an
 * invariant is broken or a frontier was not exhausted.
 */
import { parseArgs } from 'node:util';
import { Explorer } from './explore.js';
import { explorationOf, type Scenario, scenarioOf, scenarios } from './scenarios.js';

const { values } = parseArgs({
  options: {
    scenario: { type: 'string' },
    /** Gives up after so many states. */
    max: { type: 'string', default: '5000000' },
    /** How many faults, instead of as many as the scenario allows. */
    faults: { type: 'string' },
  },
});

function explored(scenario: Scenario): boolean {
  const { faults, maxFaults, name, about, witness } = scenario;
  const result = new Explorer(explorationOf(scenario)).run({ maxStates: Number(values.max) });
  const { states, transitions, depth, seconds, cpuSeconds, isExhausted, seen, finding } = result;
  const of = maxFaults === 0 ? '' : ` of ${faults.join(', ')}`;
  console.log(`${name}: ${about}; faults: ${maxFaults}${of}`);
  const time = `${seconds.toFixed(1)} s (${cpuSeconds.toFixed(1)} s of CPU)`;
  const frontier = isExhausted ? 'frontier exhausted' : 'FRONTIER NOT EXHAUSTED';
  console.log(`  ${states} states, ${transitions} transitions, depth ${depth}, ${time}, ${frontier}`);
  if (witness !== undefined) console.log(`  seen ${seen} times: ${witness.what}`);
  if (finding !== null) console.log(`  BROKEN: ${finding.what}\n    ${finding.trace.join('\n    ')}`);
  return isExhausted && finding === null;
}

const chosen = values.scenario === undefined ? scenarios : [scenarioOf(values.scenario)];
const results = chosen.map((scenario) =>
  explored(values.faults === undefined ? scenario : { ...scenario, maxFaults: Number(values.faults) }),
);
if (results.includes(false)) process.exitCode = 1;
