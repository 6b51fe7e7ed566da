/** Simulates seeds and prints the results: `npm run simulate -- --help`. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { buildWorker, type KindOfLives, type Result, runCrowd } from './crowd.js';
import { faultText } from './faults.js';
import { shrink } from './shrink.js';
import { simulate } from './simulation.js';

interface Range {
  readonly from: number;
  readonly to: number;
}

function seeds(text: string): Range {
  const match = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(text);
  const from = Number(match?.[1]);
  const to = Number(match?.[2] ?? match?.[1]);
  if (match === null)
    throw new InvalidArgumentError('It has to be a seed, or the first and the last: 1-2000.');
  if (from > to)
    throw new InvalidArgumentError(`The last comes before the first: ${to}-${from} would be right.`);
  return { from, to };
}

function workers(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('It has to be a number from 1 to 9999.');
  return Number(text);
}

const wrongUsage = 2;
const program = new Command('npm run simulate --')
  .description(
    'Lives of a group in a simulated world, each from a seed; every promise is checked at every step.',
  )
  .addOption(
    new Option('--seeds <range>', 'a seed, or the first and the last')
      .argParser(seeds)
      .default({ from: 1, to: 2000 }, '1-2000'),
  )
  .option('--workers <n>', 'how many at a time; default: as many as there are processors', workers)
  .option('--site-rules', 'only lives of groups that have rules about sites')
  .option('--several-leaders', 'only lives of groups that have several leaders')
  .option('--story', 'print the run of one seed')
  .option('--keep-going', 'do not stop at the first violation')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : wrongUsage))
  .parse();
const options = program.opts<{
  seeds: Range;
  workers?: number;
  siteRules?: boolean;
  severalLeaders?: boolean;
  story?: boolean;
  keepGoing?: boolean;
}>();

if (options.siteRules === true && options.severalLeaders === true)
  program.error('error: no life has both: name --site-rules or --several-leaders');
if (options.story !== true) await run(options.seeds);
else if (options.seeds.from === options.seeds.to) await printRun(options.seeds.from);
else program.error('error: --story prints one run: name one seed');

function kindOfLives(): KindOfLives {
  if (options.siteRules === true) return 'site-rules';
  return options.severalLeaders === true ? 'several-leaders' : 'all';
}

async function printRun(seed: number): Promise<void> {
  const { trace, violation } = await simulate(seed, { keepsTrace: true });
  for (const line of trace ?? []) console.log(line);
  process.exitCode = violation === null ? 0 : 1;
}

async function run({ from, to }: Range): Promise<void> {
  const startedMs = performance.now();
  const bad: Result[] = [];
  const sums = { seeds: 0, steps: 0, hours: 0, transitions: 0, claims: 0, permittedOverlaps: 0 };
  const faults = new Map<string, number>();
  const leaderless: number[] = [];
  let mostOfBound = 0;
  let printedMs = startedMs;
  await runCrowd({
    from,
    to,
    program: await buildWorker(),
    workers: options.workers,
    lives: kindOfLives(),
    heard(result) {
      sums.seeds += 1;
      sums.steps += result.steps;
      sums.hours += result.simulatedMs / 3_600_000;
      sums.transitions += result.transitions;
      sums.claims += result.claims;
      sums.permittedOverlaps += result.permittedOverlaps;
      if (result.leaderlessMs !== null) {
        leaderless.push(result.leaderlessMs);
        mostOfBound = Math.max(mostOfBound, result.leaderlessMs / result.boundMs);
      }
      for (const kind of result.faults) faults.set(kind, (faults.get(kind) ?? 0) + 1);
      if (result.violation !== null) {
        bad.push(result);
        console.log(`seed ${result.seed}: invariant ${result.violation.invariant}: ${result.violation.what}`);
      }
      if (performance.now() - printedMs > 60_000) {
        printedMs = performance.now();
        console.log(`… ${sums.seeds} seeds, ${sums.steps} steps, ${bad.length} violations`);
      }
      return bad.length > 0 && options.keepGoing !== true;
    },
  });
  const seconds = (performance.now() - startedMs) / 1000;
  leaderless.sort((a, b) => a - b);
  const most = [...faults]
    .sort(([, one], [, other]) => other - one)
    .map(([kind, count]) => `${kind} ${count}`);
  console.log(`${sums.seeds} lives of the seeds ${from} to ${to}: ${bad.length} with a violation`);
  console.log(
    `${sums.steps} steps in ${seconds.toFixed(1)} s: ${Math.round((sums.steps / seconds) * 60)} a minute`,
  );
  console.log(
    `${sums.hours.toFixed(1)} simulated hours, ${sums.transitions} decisions, ${sums.claims} claims, ${sums.permittedOverlaps} permitted overlaps`,
  );
  console.log(`faults: ${most.join(', ')}`);
  console.log(
    `from the repair to a leader, ms: median ${Math.round(leaderless[leaderless.length >> 1] ?? 0)}, most ${Math.round(leaderless.at(-1) ?? 0)}, at most ${Math.round(100 * mostOfBound)} % of what it may be`,
  );
  const [first] = bad.sort((one, other) => one.seed - other.seed);
  if (first === undefined) return;
  process.exitCode = 1;
  await explain(first.seed);
}

/** Prints the shortest trace that was found for the violation of a seed. */
async function explain(seed: number): Promise<void> {
  const failed = await simulate(seed);
  if (failed.violation === null) return;
  const { trace, faults, setup } = await shrink(failed);
  console.log(
    `\nThe shortest trace found of seed ${seed}; its whole life: npm run simulate -- --seeds ${seed} --story`,
  );
  console.log(
    `${setup.nodes.length} nodes, ${setup.servers} servers, session timeout ${setup.sessionTimeoutMs} ms`,
  );
  for (const fault of faults) console.log(`  ${faultText(fault, setup)}`);
  for (const line of trace ?? []) console.log(line);
}
