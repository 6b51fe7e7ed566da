/** `npm run explore [-- --scenario NAME] [-- --max STATES]` */
import { parseArgs } from 'node:util';
import { Explorer } from './explore.js';
import { explorationOf, scenarios } from './scenarios.js';

const { values } = parseArgs({
  options: { scenario: { type: 'string' }, max: { type: 'string' }, faults: { type: 'string' } },
});
const chosen = scenarios.filter(({ name }) => values.scenario === undefined || name === values.scenario);
for (const one of chosen) {
  const scenario = values.faults === undefined ? one : { ...one, maxFaults: Number(values.faults) };
  const result = new Explorer(explorationOf(scenario)).run({ maxStates: Number(values.max ?? 5_000_000) });
  const { states, transitions, depth, seconds, cpuSeconds, isExhausted, finding } = result;
  console.log(
    `${scenario.name}: ${states} states, ${transitions} transitions, depth ${depth}, ${seconds.toFixed(1)} s, ${Math.round(states / cpuSeconds)} states per second of CPU, ${isExhausted ? 'frontier exhausted' : 'NOT EXHAUSTED'}`,
  );
  if (finding !== null) console.log(`  ${finding.what}\n    ${finding.trace.join('\n    ')}`);
}
