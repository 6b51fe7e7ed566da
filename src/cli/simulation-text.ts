/** Formats the result of `petrel simulate` as tables. */
import { type Outcome, type Simulation, simulationSchema } from '../what-if/simulation.js';
import { type Layout, table } from './layout.js';
import { forTerminal, type Printable } from './output.js';
import { styled } from './style.js';

export function printableSimulation(simulation: Simulation): Printable {
  return {
    json: simulation,
    rows: [
      [
        'strategy',
        'node',
        'site',
        'meanMs',
        'worstMs',
        'aboveBestMeanMs',
        'aboveBestMeanPercent',
        'aboveBestWorstMs',
        'aboveBestWorstPercent',
        'reason',
      ],
      ...simulation.outcomes.map(cells),
    ],
    pretty: (layout) => pretty(forTerminal(simulationSchema, simulation), layout),
  };
}

function cells(outcome: Outcome): string[] {
  const { strategy, node, site, meanMs, worstMs, aboveBestMean, aboveBestWorst, reason } = outcome;
  const numbers = [
    meanMs,
    worstMs,
    aboveBestMean?.ms,
    aboveBestMean?.percent,
    aboveBestWorst?.ms,
    aboveBestWorst?.percent,
  ];
  return [strategy, node ?? '-', site ?? '-', ...numbers.map((value) => String(value ?? '-')), reason];
}

function pretty(simulation: Simulation, layout: Layout): string {
  const { outcomes, leftOut, notes, nodes } = simulation;
  return [
    headline(simulation),
    '',
    table(
      ['strategy', 'elects', 'site', 'mean', 'above best', 'worst', 'above best', 'why'],
      outcomes.map(outcomeRow),
      layout,
    ),
    ...(nodes.length === 0 ? [] : ['', nodesTable(simulation, layout)]),
    ...section(
      'Strategies left out:',
      leftOut.map(({ strategy, reason }) => `${strategy}: ${reason}`),
    ),
    ...section('Notes:', notes),
  ].join('\n');
}

function headline({ of, lost, nodes, size, quorum, strategy }: Simulation): string {
  const without = lost.length === 0 ? '' : ` without ${lost.join(', ')}`;
  const left = `${nodes.length} of ${size} nodes, quorum ${quorum}`;
  return styled('bold', `${of}${without}: ${left}, configured strategy ${strategy}`);
}

function outcomeRow({
  strategy,
  node,
  site,
  meanMs,
  aboveBestMean,
  worstMs,
  aboveBestWorst,
  reason,
}: Outcome): string[] {
  const elected = node === null ? styled('red', 'none') : node;
  return [
    strategy,
    elected,
    site ?? '-',
    msText(meanMs),
    aboveText(aboveBestMean),
    msText(worstMs),
    aboveText(aboveBestWorst),
    reason,
  ];
}

function nodesTable({ nodes }: Simulation, layout: Layout): string {
  return table(
    ['node', 'site', 'requests', 'quorum', 'mean', 'worst', 'eligible'],
    nodes.map(({ node, site, share, quorumMs, meanMs, worstMs, eligible, ineligibleReasons }) => [
      node,
      site,
      `${Number((100 * share).toFixed(1))} %`,
      msText(quorumMs),
      msText(meanMs),
      msText(worstMs),
      eligible ? 'yes' : `no: ${ineligibleReasons.join(', ')}`,
    ]),
    layout,
  );
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

function msText(ms: number | null): string {
  return ms === null ? '-' : `${ms.toFixed(2)} ms`;
}

function aboveText(above: Outcome['aboveBestMean']): string {
  if (above === null) return '-';
  if (above.ms === 0) return 'best';
  const percent = above.percent === null ? '' : ` (${above.percent.toFixed(1)} %)`;
  return `+${above.ms.toFixed(2)} ms${percent}`;
}
