/**
 * Draws a simulation as an SVG image on a white background. For each strategy, the image shows the mean and
 * the worst latency if the elected node leads.
 */

import { scaleBand, scaleLinear } from 'd3-scale';
import { cut, type Outcome, type Simulation } from 'petrel/internals';
import { type Attributes, element, escaped } from '../svg.js';

const width = 900;
const rowHeight = 52;
/**
 * The names of strategies and nodes are to the left of the bars. The right margin leaves space for the number
 * after the longest bar.
 */
const area = { left: 210, right: width - 170, top: 96 };
const colours = { mean: '#1f6fb4', worst: '#f0a860', text: '#222222', faint: '#5f6368', grid: '#e3e6ea' };
const longestLabel = 28;
const longestTitle = 95;

export function plotOf(simulation: Simulation): string {
  const { outcomes, best } = simulation;
  const bottom = area.top + rowHeight * outcomes.length;
  const x = scaleLinear()
    .domain([0, highest(outcomes)])
    .nice()
    .range([area.left, area.right]);
  const y = scaleBand(
    outcomes.map((_, index) => index),
    [area.top, bottom],
  ).padding(0.25);
  const ticks = x.ticks(7).map((ms) => tick(x(ms), bottom, x.tickFormat(7)(ms)));
  const rows = outcomes.map((outcome, index) => row(outcome, y(index) ?? 0, y.bandwidth() / 2, x));
  const parts = [
    element('rect', { width, height: bottom + 44, fill: '#ffffff' }),
    ...heading(simulation),
    ...ticks,
    ...[bestLine(best.mean, colours.mean, bottom, x), bestLine(best.worst, '#c26a10', bottom, x)],
    ...rows,
    label('ms', area.right + 26, bottom + 20, { fill: colours.faint }),
  ];
  const frame = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${width} ${bottom + 44}`,
    width,
    height: bottom + 44,
    'font-family': 'system-ui, "DejaVu Sans", sans-serif',
    'font-size': 13,
  };
  return `${element('svg', frame, `\n${parts.join('\n')}\n`)}\n`;
}

type Scale = (ms: number) => number;

function highest(outcomes: readonly Outcome[]): number {
  const known = outcomes.flatMap(({ meanMs, worstMs }) => [meanMs ?? 0, worstMs ?? 0]);
  return Math.max(...known) || 1;
}

function heading({ of, lost, nodes, size }: Simulation): string[] {
  const without = lost.length === 0 ? '' : ` without ${lost.join(', ')}`;
  const legend = [
    { x: area.left, fill: colours.mean, text: 'mean of all clients' },
    { x: area.left + 165, fill: colours.worst, text: 'farthest client' },
  ];
  return [
    label(shortened(`${of}${without}`, longestTitle), 16, 28, { 'font-size': 16, 'font-weight': 600 }),
    label(`Latency for clients, by elected node (${nodes.length} of ${size} nodes left)`, 16, 50, {
      fill: colours.faint,
    }),
    ...legend.flatMap(({ x, fill, text }) => [
      element('rect', { x, y: 66, width: 12, height: 12, fill }),
      label(text, x + 18, 77),
    ]),
    dashed(area.left + 305, area.left + 325, 72, 72, colours.faint),
    label('best possible node', area.left + 332, 77),
  ];
}

function tick(x: number, bottom: number, text: string): string {
  const line = element('line', { x1: x, x2: x, y1: area.top, y2: bottom, stroke: colours.grid });
  return line + label(text, x, bottom + 20, { 'text-anchor': 'middle', fill: colours.faint });
}

function bestLine(best: { readonly ms: number } | null, stroke: string, bottom: number, x: Scale): string {
  return best === null ? '' : dashed(x(best.ms), x(best.ms), area.top, bottom, stroke);
}

function dashed(x1: number, x2: number, y1: number, y2: number, stroke: string): string {
  return element('line', { x1, x2, y1, y2, stroke, 'stroke-dasharray': '4 3' });
}

function row(outcome: Outcome, y: number, barHeight: number, x: Scale): string {
  const { strategy, node, site } = outcome;
  const elected = node === null ? 'nobody' : `${node}, ${site}`;
  const title = [
    label(shortened(strategy, longestLabel), 16, y + barHeight - 4, { 'font-weight': 600 }),
    label(`→ ${shortened(elected, longestLabel - 2)}`, 16, y + 2 * barHeight - 4, { fill: colours.faint }),
  ];
  if (node === null)
    return [...title, label(shortened(outcome.reason, 75), area.left + 6, y + barHeight + 4, halo)].join('');
  const mean = bar(outcome.meanMs, outcome.aboveBestMean, y, barHeight, colours.mean, x);
  const worst = bar(outcome.worstMs, outcome.aboveBestWorst, y + barHeight, barHeight, colours.worst, x);
  return [...title, mean, worst].join('');
}

/** A white outline around letters that may overlap a line. */
const halo = { stroke: '#ffffff', 'stroke-width': 4, 'paint-order': 'stroke', 'stroke-linejoin': 'round' };

function bar(
  ms: number | null,
  above: Outcome['aboveBestMean'],
  y: number,
  height: number,
  fill: string,
  x: Scale,
): string {
  const text = ms === null ? 'unknown' : `${ms.toFixed(2)} ms${aboveText(above)}`;
  const end = x(ms ?? 0);
  const shape = { x: area.left, y: y + 1, width: end - area.left, height: height - 2, fill };
  return element('rect', shape) + label(text, end + 6, y + height / 2 + 4.5, { 'font-size': 12, ...halo });
}

function aboveText(above: Outcome['aboveBestMean']): string {
  if (above === null) return '';
  if (above.ms === 0) return ' (best)';
  return above.percent === null ? '' : ` (+${above.percent.toFixed(0)} %)`;
}

function shortened(text: string, longest: number): string {
  const line = cut(text);
  return line.length <= longest ? line : `${line.slice(0, longest - 1)}…`;
}

function label(text: string, x: number, y: number, more: Attributes = {}): string {
  return element('text', { x, y, fill: colours.text, ...more }, escaped(text));
}
