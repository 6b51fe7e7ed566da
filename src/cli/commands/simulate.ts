/**
 * Defines the command `petrel simulate`. The command shows what would happen in the current group, or in a
 * deployment that is described in a file.
 */
import { writeFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import * as z from 'zod';
import { readYaml } from '../../config/yaml.js';
import { ensembleNowMs } from '../../core/ensemble-clock.js';
import { errorMessage, PetrelError } from '../../errors.js';
import { exitCodes } from '../../exit-code.js';
import { readableConfig, withAnswers } from '../../group/judge.js';
import { readOrEstimateClock } from '../../group/time.js';
import { readGroup, underRules } from '../../group/view.js';
import { loadRules } from '../../own-strategies/load.js';
import { comparedStrategies, type Wanted } from '../../what-if/compared-strategies.js';
import { type Simulation, simulate } from '../../what-if/simulation.js';
import { type Assumed, liveSituation, type Situation } from '../../what-if/situation.js';
import { wholeNumber } from '../arguments.js';
import { helpText } from '../help-text.js';
import { loadLab } from '../lab-package.js';
import { print } from '../output.js';
import { readText } from '../read-text.js';
import { withSession } from '../session.js';
import { readClientSettings } from '../settings.js';
import { printableSimulation } from '../simulation-text.js';

const optionsSchema = z.object({
  lose: z.array(z.string()).default([]),
  strategy: z.array(z.string()).default([]),
  option: z.record(z.string(), z.unknown()).nullable().default(null),
  size: z.number().optional(),
  plot: z.string().optional(),
});
type Options = z.infer<typeof optionsSchema>;

export function addSimulate(program: Command): void {
  program
    .command('simulate')
    .summary('show which node would be elected without some nodes')
    .description(
      'what if: show which node each strategy would elect without some nodes, and the latency for clients',
    )
    .argument('[file]', 'deployment file, YAML or JSON; - reads stdin (default: the live group)')
    .option('--lose <what>', 'pretend that node=NODE or site=SITE is gone; repeatable', several)
    .option('--strategy <name>', 'simulate only this strategy; repeatable (default: all that apply)', several)
    .option('--option <name=value>', 'option for --strategy; the value is YAML; repeatable', strategyOption)
    .option('--size <n>', 'number of nodes in the group, including nodes that are down', wholeNumber(1, 1000))
    .option('--plot <file>', 'write a chart of the latencies to this SVG file')
    .addHelpText('after', helpText(help))
    .action(async (file: string | undefined, _options, command: Command) => {
      const options = optionsSchema.parse(command.opts());
      if (options.option !== null && options.strategy.length === 0) {
        throw new InvalidArgumentError('--option requires --strategy.');
      }
      await (file === undefined ? simulateLive(command, options) : simulateFile(command, file, options));
    });
}

function several(text: string, before: string[] = []): string[] {
  return [...before, text];
}

function strategyOption(
  text: string,
  before: Record<string, unknown> | null = null,
): Record<string, unknown> {
  const { name = '', value = '' } = /^(?<name>[^=]+)=(?<value>.*)$/s.exec(text)?.groups ?? {};
  if (name === '' || name === '__proto__') throw new InvalidArgumentError('Expected NAME=VALUE.');
  try {
    return Object.fromEntries([...Object.entries(before ?? {}), [name, readYaml(value)]]);
  } catch (error) {
    throw new InvalidArgumentError(`The value is not valid YAML: ${errorMessage(error)}.`);
  }
}

async function simulateFile(command: Command, file: string, options: Options): Promise<void> {
  const { settings } = await readClientSettings(command);
  const { describedSituation } = await loadLab('petrel simulate FILE');
  const of = file === '-' ? 'stdin' : file;
  const { situation, ...wanted } = describedSituation(of, await readText(file), assumed(options));
  const view = underRules(situation.view, await loadRules(settings));
  await printSimulation(settings.format, { ...situation, view }, wanted, options);
}

async function simulateLive(command: Command, options: Options): Promise<void> {
  await withSession(command, async ({ access, settings }) => {
    const { store, clock } = access;
    const view = await readGroup(access, { scores: true });
    const reading = await readOrEstimateClock(store, view, clock);
    const situation = liveSituation(view, ensembleNowMs(reading, clock.monotonicMs()), assumed(options));
    const own = readableConfig(view);
    await printSimulation(settings.format, situation, { own, listed: [] }, options);
  });
}

function assumed({ lose, size }: Options): Assumed {
  return { lose, size };
}

type Compared = Pick<Wanted, 'own' | 'listed'>;

function strategiesFor({ own, listed }: Compared, options: Options, { size, view }: Situation) {
  const { strategy, option } = options;
  const { size: sizeOption, ...rest } = own.strategyOptions;
  const hasOther = options.size !== undefined && sizeOption !== undefined;
  const resized = hasOther ? { ...own, strategyOptions: { ...rest, size: options.size } } : own;
  return comparedStrategies({ own: resized, listed, names: strategy, options: option }, size, view.rules);
}

type Format = Parameters<typeof print>[0];

async function printSimulation(
  format: Format,
  situation: Situation,
  compared: Compared,
  options: Options,
): Promise<void> {
  const simulation = await withAnswers(situation.view, (view) => {
    const judged = { ...situation, view };
    return simulate(judged, strategiesFor(compared, options, judged));
  });
  const { plot } = options;
  if (plot !== undefined) await writePlot(plot, simulation);
  print(format, printableSimulation(simulation));
  refuseNobody(simulation);
  process.exitCode = exitCodes.done;
}

async function writePlot(file: string, simulation: Simulation): Promise<void> {
  const { plotOf } = await loadLab('--plot');
  try {
    await writeFile(file, plotOf(simulation));
  } catch (error) {
    throw new PetrelError('INVALID', `--plot: cannot write ${file}: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/**
 * Throws if a simulated outcome has no leader. A script can therefore check the outcome before it takes nodes
 * down.
 */
function refuseNobody({ outcomes, nodes }: Simulation): void {
  const failed = outcomes.filter(({ decides, node }) => decides && node === null);
  if (failed.length === 0) return;
  const reasons = [
    ...failed.map(({ strategy, reason }) => `${strategy}: ${reason}`),
    ...nodes.flatMap(({ node, ineligibleReasons }) =>
      ineligibleReasons.length === 0 ? [] : [`${node}: ${ineligibleReasons.join(', ')}`],
    ),
  ];
  throw new PetrelError('REFUSED', 'no eligible node would be elected', { reasons });
}

const help = `
Without FILE, the command simulates the live group with the round-trip times that its nodes measure. The group's own
strategy is the first row of the table. It determines the exit code, unless you name strategies with --strategy: 0 if it
elects an eligible node; 5 if it does not, with the reasons. Use it as a check before maintenance:

  petrel simulate --lose site=a && petrel site priority a 0 --for 2h

FILE and --plot require the package petrel-lab, which is installed separately.

A file lists the sites, the requests that arrive at each, the round-trip times between them in milliseconds, and the nodes:

  sites:
    a: { requests: 100, roundTripsMs: { b: 9.9, c: 53 } }
    b: { requests: 50, roundTripsMs: { c: 77 } }
    c: { requests: 0 }
  nodes: { a1: { site: a }, b1: { site: b }, c1: { site: c, priority: 50 } }
  leader: a1

Examples:
  petrel simulate --lose site=a -f json
  petrel simulate deployment.yaml --lose node=a1 --plot latencies.svg
  petrel simulate deployment.yaml --strategy latency --option width=10
`;
