/**
 * Draws curves as an SVG image on a white background. Measured curves have points and confidence intervals.
 * Theoretical curves are dashed.
 */
import { type ScaleLinear, type ScaleLogarithmic, scaleLinear, scaleLog } from 'd3-scale';
import { element, escaped, picture } from './svg.js';

export interface Point {
  readonly x: number;
  readonly y: number;
  /** Half the width of the point's confidence interval. */
  readonly ci?: number | undefined;
}

export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
  /** A `published` series has points only. */
  readonly kind: 'measured' | 'theory' | 'published';
}

export interface Axis {
  readonly label: string;
  readonly isLog: boolean;
}

export interface Chart {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
}

const width = 980;
const area = { left: 80, right: 600, top: 50, bottom: 300 };
const gap = 24;
const lineHeight = 18;
const palette = ['#1f6fb4', '#c26a10', '#2a8a4a', '#a03060', '#6a4fb0', '#808020', '#108080', '#444444'];
const colours = { text: '#222222', faint: '#5f6368', grid: '#e3e6ea' };

/** Draws the charts as one picture, stacked vertically. */
export function chartsOf(charts: readonly Chart[]): string {
  let top = 0;
  const panels = charts.map((chart) => {
    const placed = element('g', { transform: `translate(0 ${top})` }, panel(chart));
    top += heightOf(chart);
    return placed;
  });
  return picture({ title: charts.map(({ title }) => title).join('; '), width, height: top }, panels);
}

function heightOf({ series }: Chart): number {
  return Math.max(area.bottom + 50, area.top + series.length * lineHeight + 20) + gap;
}

type Scale = ScaleLinear<number, number> | ScaleLogarithmic<number, number>;

function panel(chart: Chart): string {
  const points = chart.series.flatMap((series) => series.points);
  const x = scaleOf(
    chart.x,
    points.map((point) => point.x),
    [area.left, area.right],
  );
  const y = scaleOf(
    chart.y,
    points.map((point) => point.y),
    [area.bottom, area.top],
  );
  return [
    text(chart.title, 16, 26, { 'font-size': 15, 'font-weight': 600 }),
    ...xTicks(x),
    ...yTicks(y),
    text(chart.x.label, (area.left + area.right) / 2, area.bottom + 38, {
      'text-anchor': 'middle',
      fill: colours.faint,
    }),
    text(chart.y.label, area.left, area.top - 8, { 'text-anchor': 'middle', fill: colours.faint }),
    ...chart.series.map((series, index) => drawn(series, index, colourOf(chart.series, index), x, y)),
  ].join('\n');
}

/**
 * Returns the colour of a series. A series that is not measured has the same colour as the last measured
 * series before it.
 */
function colourOf(series: readonly Series[], index: number): string {
  const measured = series.slice(0, index + 1).filter(({ kind }) => kind === 'measured').length;
  return palette[Math.max(0, measured - 1) % palette.length] ?? colours.text;
}

function scaleOf({ isLog }: Axis, values: readonly number[], range: [number, number]): Scale {
  const positive = values.filter((value) => value > 0);
  const most = Math.max(...values) > 0 ? Math.max(...values) : 1;
  if (!isLog) return scaleLinear().domain([0, most]).nice().range(range);
  return scaleLog()
    .domain([Math.min(...positive, most), most])
    .nice()
    .range(range);
}

function xTicks(x: Scale): string[] {
  const isWhole = x.domain().every((end) => end <= 3 && Number.isInteger(end));
  const count = isWhole ? (x.domain()[1] ?? 6) : 6;
  const format = x.tickFormat(count);
  return x.ticks(count).flatMap((value) => {
    const at = x(value);
    const line = { x1: at, x2: at, y1: area.top, y2: area.bottom, stroke: colours.grid };
    const label = { 'text-anchor': 'middle', fill: colours.faint };
    return [element('line', line), text(format(value), at, area.bottom + 18, label)];
  });
}

function yTicks(y: Scale): string[] {
  const format = y.tickFormat(5);
  return y.ticks(5).flatMap((value) => {
    const at = y(value);
    const line = { x1: area.left, x2: area.right, y1: at, y2: at, stroke: colours.grid };
    const label = { 'text-anchor': 'end', fill: colours.faint };
    return [element('line', line), text(format(value), area.left - 6, at + 4, label)];
  });
}

function drawn({ name, points, kind }: Series, index: number, colour: string, x: Scale, y: Scale): string {
  const places = points.map((point): [number, number] => [x(point.x), y(point.y)]);
  const [first] = places;
  // A line through a single point would be invisible.
  const isAlone = kind === 'theory' && places.length === 1 && first !== undefined;
  const ends = isAlone ? [-13, 13].map((by): [number, number] => [first[0] + by, first[1]]) : places;
  const line = ends.map(([left, top]) => `${round(left)},${round(top)}`).join(' ');
  const dash = kind === 'theory' ? { 'stroke-dasharray': '5 4' } : {};
  const stroke = { points: line, fill: 'none', stroke: colour, 'stroke-width': 1.5, ...dash };
  const legendY = area.top + index * lineHeight;
  return [
    kind === 'published' ? '' : element('polyline', stroke),
    ...(kind === 'theory' ? [] : points.map((point) => marked(point, kind, colour, x, y))),
    element('line', {
      x1: 620,
      x2: 644,
      y1: legendY,
      y2: legendY,
      stroke: colour,
      'stroke-width': 2,
      ...dash,
    }),
    text(name, 650, legendY + 4),
  ].join('');
}

function marked({ x: at, y: value, ci }: Point, kind: Series['kind'], colour: string, x: Scale, y: Scale) {
  const centre = { cx: x(at), cy: y(value), r: kind === 'published' ? 5 : 2.5 };
  const fill = kind === 'published' ? { fill: 'none', stroke: colour, 'stroke-width': 2 } : { fill: colour };
  const circle = element('circle', { ...centre, ...fill });
  const low = value - (ci ?? 0);
  if (ci === undefined || low <= 0) return circle;
  const bar = { x1: x(at), x2: x(at), y1: y(low), y2: y(value + ci), stroke: colour };
  return element('line', bar) + circle;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function text(content: string, x: number, y: number, more: Readonly<Record<string, string | number>> = {}) {
  return element('text', { x, y, fill: colours.text, ...more }, escaped(content));
}
