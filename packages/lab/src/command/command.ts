/**
 * The command `petrel lab`, which simulates election algorithms from the literature and Petrel's own election
 * side by side.
 */

import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  clientSettings,
  duration,
  durationMs,
  errorMessage,
  type OutputFormat,
  outputFormats,
  PetrelError,
  type Printable,
  print,
  readSettings,
  wholeNumber,
} from 'petrel/internals';
import * as z from 'zod';
import type { Chart } from '../chart.js';
import { type Delay, scenarios } from '../conditions.js';
import type { Case, RunsOf } from '../experiment.js';
import { reproductionNames, reproductionTitles } from '../reproduce/names.js';
import type { Reproduction } from '../reproduce/reproduction.js';

const optionsSchema = z.looseObject({
  nodes: z.array(z.number()),
  loss: z.array(z.number()),
  scenario: z.array(z.string()),
  runs: z.number(),
  seed: z.number(),
  workers: z.number(),
  reproduce: z.string().optional(),
  plot: z.string().optional(),
});
type Options = z.infer<typeof optionsSchema>;

export function defineLab(lab: Command): void {
  lab.argument('[election...]', 'elections to run (default: all)').addHelpText('after', help);
  for (const option of [...caseOptions(), ...conditionOptions(), ...runOptions()]) lab.addOption(option);
  lab.action(async (names: string[], _options, command: Command) => {
    if (command.opts().reproduce !== undefined) refuseConditions(command, names);
    await runLab(command, names, optionsSchema.parse(command.opts()));
  });
}

/** Returns the options that accept several values. Each combination of values is a separate case. */
function caseOptions(): Option[] {
  return [
    new Option('--nodes <n,…>', 'number of nodes')
      .argParser(list(wholeNumber(1, 10_000)))
      .default([10], '10'),
    new Option('--loss <p,…>', 'probability that a copy of a message is lost')
      .argParser(list(probability(0.95)))
      .default([0], '0'),
    new Option('--scenario <name,…>', `scenario: ${scenarios.join(', ')}`)
      .argParser(list(scenario))
      .default(['start'], 'start'),
  ];
}

function conditionOptions(): Option[] {
  return [
    new Option(
      '--delay <delay>',
      'delay of a message: 10ms, 5ms-20ms (uniform) or ~10ms (exponential)',
    ).argParser(delay),
    new Option('--correlated', 'lose a multicast for all receivers or for none'),
    new Option('--order <order>', 'order of the ids on a ring').choices(['random', 'rising', 'falling']),
    new Option(
      '--initiators <who>',
      'nodes that start the election: all, highest, after-highest, or a number of nodes',
    ).argParser(initiators),
    new Option('--noticed-by <who>', 'nodes that detect a crash').choices(['all', 'lowest', 'highest']),
    new Option('--joiner <who>', 'id of the node that joins late').choices(['highest', 'lowest']),
    new Option(
      '--announce <duration>',
      'interval between two announcements of a leader (default: 1s)',
    ).argParser(duration),
    new Option(
      '--listen <duration>',
      'time after which a silent leader is considered dead (default: depends on the loss)',
    ).argParser(duration),
    new Option(
      '--suppress <duration>',
      'longest wait before a node announces itself (default: 1s)',
    ).argParser(duration),
    new Option('--suppress-rate <rate>', 'exponential growth of those waits (default: 0, uniform)').argParser(
      growth,
    ),
    new Option(
      '--byes <n>',
      'number of times that a leader announces that it is leaving (default: 1)',
    ).argParser(wholeNumber(1, 100)),
    new Option('--apart <duration>', 'length of a partition (default: 20s)').argParser(duration),
    new Option('--observe <duration>', 'time for which the nodes are observed after the election').argParser(
      duration,
    ),
    new Option('--detect <duration>', 'time from a crash to its detection (default: 3s)').argParser(duration),
    new Option('--missed <p>', 'probability that a node never detects a crash').argParser(probability(1)),
    new Option('--mistakes <rate>', 'how often per second a live node is wrongly taken for dead').argParser(
      rate,
    ),
    new Option('--limit <duration>', 'time after which an election is abandoned (default: 10m)').argParser(
      duration,
    ),
  ];
}

function runOptions(): Option[] {
  return [
    new Option('--runs <n>', 'number of runs per case').argParser(wholeNumber(1, 100_000)).default(100),
    new Option('--seed <n>', 'seed for all random numbers').argParser(wholeNumber(0, 2 ** 31)).default(1),
    new Option('--workers <n>', 'number of threads; affects only the duration, not the results')
      .argParser(wholeNumber(1, 256))
      .default(availableParallelism(), 'one per processor'),
    new Option(
      '--reproduce <what>',
      'reproduce published figures and report the deviation of each point',
    ).choices([...reproductionNames, 'all']),
    new Option('--plot <file>', 'write a chart to this SVG file; -f svg prints only the chart'),
  ];
}

/**
 * Throws PetrelError INVALID if the command line names algorithms or sets conditions. Published experiments
 * run only under their published conditions.
 */
function refuseConditions(command: Command, names: readonly string[]): void {
  const given = [...caseOptions(), ...conditionOptions(), ...runOptions()]
    .filter((option) => !alsoOfReproductions.has(option.attributeName()))
    .filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli')
    .map(({ long }) => long ?? '');
  const refused = [...names, ...given];
  if (refused.length === 0) return;
  throw new PetrelError(
    'INVALID',
    `--reproduce runs published experiments with fixed elections and conditions: remove ${refused.join(', ')}`,
  );
}

const alsoOfReproductions = new Set(['reproduce', 'seed', 'workers', 'plot']);

/** Runs the laboratory. Its modules are loaded only when they are needed. */
async function runLab(command: Command, names: readonly string[], options: Options): Promise<void> {
  const format = await readFormat(command);
  // Report an unwritable plot file before a long run, not after it.
  if (options.plot !== undefined) await writePlot(options.plot, '', 'a');
  const shown = await (options.reproduce === undefined
    ? measured(names, options)
    : reproduced(options.reproduce, options));
  const { chartsOf } = await import('../chart.js');
  if (options.plot !== undefined) await writePlot(options.plot, chartsOf(shown.charts), 'w');
  if (format === 'svg') process.stdout.write(chartsOf(shown.charts));
  else print(format, shown.text);
}

/**
 * Reads the output format. The command accepts `svg` and `table` (the human-readable output) in addition to
 * the formats that all commands accept.
 */
async function readFormat(command: Command): Promise<OutputFormat | 'svg'> {
  const { format, ...flags } = command.optsWithGlobals();
  const known: readonly unknown[] = [...outputFormats, 'table', 'svg'];
  if (format !== undefined && !known.includes(format))
    throw new PetrelError('INVALID', `--format; expected one of ${known.join(', ')}, found "${format}"`);
  const isOwn = format === 'svg' || format === 'table';
  const { values } = await readSettings(clientSettings, {
    flags: isOwn ? flags : { ...flags, format },
    env: process.env,
  });
  return isOwn ? (format === 'svg' ? 'svg' : 'pretty') : values.format;
}

interface Shown {
  readonly charts: readonly Chart[];
  readonly text: Printable;
}

async function measured(names: readonly string[], options: Options): Promise<Shown> {
  const { algorithms } = await import('../algorithms/index.js');
  const [{ chartsOfResults }, { printableLab }] = await Promise.all([
    import('../plot.js'),
    import('./results-text.js'),
  ]);
  const known = [...algorithms.keys()];
  const unknown = names.filter((name) => !algorithms.has(name));
  if (unknown.length > 0) {
    throw new PetrelError(
      'INVALID',
      `no such election: ${unknown.join(', ')}; expected one of ${known.join(', ')}`,
    );
  }
  const cases = await casesOf(names.length === 0 ? known : names, options);
  const { resultOf } = await import('../experiment.js');
  const ran = await runAll(cases, options.runs, [options.seed], options);
  const results = cases.map((one) => resultOf(one, ran(one, options.seed)));
  return { charts: chartsOfResults(results), text: printableLab(options.seed, results) };
}

async function reproduced(what: string, options: Options): Promise<Shown> {
  const [{ reproductions, seedsOfReproduction }, { printableReproduction }] = await Promise.all([
    import('../reproduce/index.js'),
    import('./reproduction-text.js'),
  ]);
  const names = what === 'all' ? reproductionNames : reproductionNames.filter((name) => name === what);
  const seeds = Array.from({ length: seedsOfReproduction }, (_, index) => options.seed + index);
  const made: Reproduction[] = [];
  for (const name of names) {
    const { cases, runs, make } = reproductions[name];
    made.push(make(await runAll(cases, runs, seeds, options), seeds));
  }
  const points = made.flatMap((one) => one.points);
  return { charts: made.flatMap(({ charts }) => charts), text: printableReproduction(options.seed, points) };
}

async function runAll(
  cases: readonly Case[],
  runs: number,
  seeds: readonly number[],
  { workers }: Pick<Options, 'workers'>,
): Promise<RunsOf> {
  const [{ runsOf, tasksOf }, { runTasks }, { progressBar }] = await Promise.all([
    import('../experiment.js'),
    import('../pool.js'),
    import('./progress.js'),
  ]);
  const tasks = seeds.flatMap((seed) => tasksOf(cases, runs, seed));
  const bar = progressBar(cases.length * runs * seeds.length);
  try {
    return runsOf(
      tasks,
      await runTasks(tasks, { workers, aloneMs: 300, progress: (count) => bar.at(count) }),
    );
  } finally {
    bar.end();
  }
}

async function writePlot(file: string, svg: string, flag: 'a' | 'w'): Promise<void> {
  try {
    await writeFile(file, svg, { flag });
  } catch (error) {
    const message = `--plot: cannot write ${file}: ${errorMessage(error)}`;
    throw new PetrelError('INVALID', message, { cause: error });
  }
}

async function casesOf(names: readonly string[], options: Options): Promise<Case[]> {
  const { conditionsSchema } = await import('../conditions.js');
  const { announce, listen, suppress, detect, mistakes, limit, apart, observe, ...others } = options;
  const shared = {
    ...others,
    announceMs: announce,
    listenMs: listen,
    suppressMs: suppress,
    detectMs: detect,
    mistakesPerS: mistakes,
    limitMs: limit,
    apartMs: apart,
    observeMs: observe,
  };
  return names.flatMap((algorithm) =>
    options.scenario.flatMap((what) =>
      options.nodes.flatMap((nodes) =>
        options.loss.map((loss) => {
          const conditions = conditionsSchema.parse({ ...shared, nodes, loss, scenario: what });
          return { algorithm, conditions };
        }),
      ),
    ),
  );
}

function list<T>(one: (text: string) => T): (text: string) => T[] {
  return (text) => text.split(',').map(one);
}

function probability(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d*\.?\d+$/.test(text) && value <= most) return value;
    throw new InvalidArgumentError(`Expected a number from 0 to ${most}.`);
  };
}

function rate(text: string): number {
  if (/^\d*\.?\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a number, such as 0.1.');
}

function growth(text: string): number {
  if (/^-?\d*\.?\d+$/.test(text) && Math.abs(Number(text)) <= 50) return Number(text);
  throw new InvalidArgumentError('Expected a number from -50 to 50.');
}

function scenario(text: string): string {
  if (scenarios.some((name) => name === text)) return text;
  throw new InvalidArgumentError(`Expected one of ${scenarios.join(', ')}.`);
}

function initiators(text: string): string | number {
  if (['all', 'highest', 'after-highest'].includes(text)) return text;
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected all, highest, after-highest, or a number.');
}

function delay(text: string): Delay {
  try {
    const [from = '', to] = text.replace(/^~/, '').split('-');
    if (text.startsWith('~')) return { kind: 'exponential', meanMs: durationMs(from, { minMs: 1 }) };
    if (to === undefined) return { kind: 'constant', ms: durationMs(from, { minMs: 1 }) };
    const fromMs = durationMs(from);
    return { kind: 'uniform', fromMs, toMs: durationMs(to, { minMs: Math.max(1, fromMs) }) };
  } catch (error) {
    throw new InvalidArgumentError(`${errorMessage(error)}.`);
  }
}

const help = `
Scenarios (--scenario):
  start      all nodes start at once
  crash      after agreement, the leader crashes
  crashes    after agreement, the leader crashes, and the highest other node soon after
  bye        after agreement, the leader announces that it is leaving
  alarm      after agreement, the leader is wrongly considered dead
  restart    after agreement, the leader crashes and returns without its memory
  join       a node joins late
  midway     the node with the highest id crashes during the first election
  partition  after agreement, a minority with the leader is cut off for a while

--nodes, --loss and --scenario accept several values, separated by commas. The same options and the same seed give the same output.

--reproduce runs published experiments from ten seeds. Of the options above, it accepts only --seed and --workers:
${[...reproductionTitles].map(([name, title]) => `  ${name.padEnd(11)}  ${title}`).join('\n')}

Examples:
  petrel lab --reproduce chapter5 --plot chapter5.svg
  petrel lab lcr hs --nodes 10,100,1000 --order falling
  petrel lab le-a le-s le-m --nodes 500 --loss 0,0.4 --delay 100ms
  petrel lab --scenario start,crash,join --nodes 100 -f json
`;
