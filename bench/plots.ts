/** Draws the measurements of a run as SVG. */
import { scaleLog } from 'd3-scale';
import { type Chart, chartsOf } from '../packages/lab/src/chart.js';
import { element, escaped, picture } from '../packages/lab/src/svg.js';
import { names, scenarios } from './goals.js';
import { scaleScenario } from './scenarios/scale.js';
import type { Samples, Spread } from './statistics.js';

interface Panel {
  readonly title: string;
  readonly scenario: string;
  readonly measure: string;
  readonly limit: string | null;
}

interface Mark {
  readonly name: string;
  readonly spread: Spread;
}

const width = 980;
const area = { left: 270, right: 940 };
const rowHeight = 26;
const headHeight = 46;
const footHeight = 44;
const colours = { own: '#1f6fb4', other: '#808080', limit: '#2a8a4a', text: '#222222', grid: '#e3e6ea' };

/** Returns the SVG files by scenario. */
export function plotsOf(samples: Samples, sizes: readonly number[]): Map<string, string> {
  const plots = new Map<string, string>();
  const { handover3, handover1, crash, start } = scenarios;
  for (const [scenario, panels] of [
    [handover3, [{ title: 'From SIGTERM until the next leads', measure: 'handover', limit: 'transition' }]],
    [handover1, [{ title: 'From SIGTERM until the next leads', measure: 'handover', limit: 'transition' }]],
    [
      crash,
      [
        { title: 'kill -9 of the process', measure: 'crash', limit: 'session' },
        { title: 'kill -9 of the whole node', measure: 'host', limit: 'session' },
      ],
    ],
    [start, [{ title: 'From start to leader', measure: 'start', limit: null }]],
  ] as const) {
    const svg = spreadPlot(
      samples,
      panels.map((panel) => ({ ...panel, scenario })),
    );
    if (svg !== null) plots.set(scenario, svg);
  }
  const overSizes = scalePlot(samples, sizes);
  if (overSizes !== null) plots.set(scaleScenario(scenarios.scale, Math.min(...sizes)), overSizes);
  return plots;
}

/**
 * Draws one row for each contender: a bar from the 10 % to the 90 % quantile, and a dot at the median.
 * Returns null if nothing was measured.
 */
export function spreadPlot(samples: Samples, panels: readonly Panel[]): string | null {
  const drawn: string[] = [];
  const titles: string[] = [];
  let top = 0;
  for (const panel of panels) {
    const marks = marksOf(samples, panel);
    if (marks.length === 0) continue;
    titles.push(panel.title);
    drawn.push(element('g', { transform: `translate(0 ${top})` }, panelText(panel, marks)));
    top += headHeight + marks.length * rowHeight + footHeight;
  }
  if (drawn.length === 0) return null;
  return picture({ title: titles.join('; '), width, height: top }, drawn);
}

function marksOf(samples: Samples, { scenario, measure, limit }: Panel): Mark[] {
  const wanted = samples.contenders(scenario, measure).map((name) => ({ name, what: measure }));
  const limits = limit === null ? [] : [{ name: names.limit, what: limit }];
  return [...wanted, ...limits].flatMap(({ name, what }) => {
    const spread = samples.spread(scenario, name, what);
    return spread === null ? [] : [{ name, spread }];
  });
}

function panelText({ title }: Panel, marks: readonly Mark[]): string {
  const ends = marks.flatMap(({ spread }) => [spread.low, spread.high]);
  const x = scaleLog()
    .domain([Math.min(...ends), Math.max(...ends)])
    .nice()
    .range([area.left, area.right]);
  const bottom = headHeight + marks.length * rowHeight;
  const ticks = x.ticks(6).map((value) => ({ at: x(value), label: x.tickFormat(6)(value) }));
  return [
    text(`${title}, ms`, 16, 24, { 'font-size': 15, 'font-weight': 600 }),
    ...ticks.map(({ at }) =>
      element('line', { x1: at, x2: at, y1: headHeight - 8, y2: bottom, stroke: colours.grid }),
    ),
    ...ticks.map(({ at, label }) => text(label, at, bottom + 16, { 'text-anchor': 'middle' })),
    ...marks.map((mark, row) => markText(mark, headHeight + (row + 0.5) * rowHeight - 4, x)),
  ].join('\n');
}

function markText({ name, spread }: Mark, y: number, x: (value: number) => number): string {
  const isOwn = name.startsWith('Petrel');
  const colour = name === names.limit ? colours.limit : isOwn ? colours.own : colours.other;
  const ends = { x1: x(spread.low), x2: x(spread.high), y1: y, y2: y };
  return [
    text(name, area.left - 14, y + 4, { 'text-anchor': 'end' }),
    element('line', { ...ends, stroke: colour, 'stroke-width': 5, 'stroke-opacity': 0.4 }),
    element('circle', { cx: x(spread.median), cy: y, r: 4.5, fill: colour }),
  ].join('');
}

function text(content: string, x: number, y: number, more: Readonly<Record<string, string | number>> = {}) {
  return element('text', { x, y, fill: colours.text, ...more }, escaped(content));
}

/** Draws measurements over the number of participants. */
function scalePlot(samples: Samples, sizes: readonly number[]): string | null {
  const panels = [
    { measure: 'requests', title: 'Requests of one transition', label: 'requests' },
    { measure: 'bytes', title: 'Bytes of one transition', label: 'bytes' },
    { measure: 'resident', title: 'Memory of the process', label: 'MB' },
  ];
  const charts = panels.flatMap(({ measure, title, label }): Chart[] => {
    const contenders = new Set(
      sizes.flatMap((size) => samples.contenders(scaleScenario(scenarios.scale, size), measure)),
    );
    if (sizes.length < 2 || contenders.size === 0) return [];
    const series = [...contenders].map((name) => ({
      name,
      kind: 'measured' as const,
      points: sizes.flatMap((size) => {
        const spread = samples.spread(scaleScenario(scenarios.scale, size), name, measure);
        return spread === null ? [] : [{ x: size, y: spread.median }];
      }),
    }));
    return [{ title, x: { label: 'participants', isLog: true }, y: { label, isLog: true }, series }];
  });
  return charts.length === 0 ? null : chartsOf(charts);
}
