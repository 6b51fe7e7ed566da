/** Formats the laboratory's results as Markdown. */
import { number, offText } from '../../packages/lab/src/command/reproduction-text.js';
import type { Result } from '../../packages/lab/src/experiment.js';
import type { ReproductionName } from '../../packages/lab/src/reproduce/names.js';
import { type Compared, deviationsOf, type Expected } from '../../packages/lab/src/reproduce/reproduction.js';
import type { Summary } from '../../packages/lab/src/statistics.js';
import { table } from '../report.js';

export interface Reproduced {
  readonly name: ReproductionName;
  readonly points: readonly Compared[];
}

/** Returns every point of every figure. */
export function everyPoint(reproduced: readonly Reproduced[]): string {
  return reproduced.flatMap(({ name, points }) => [`## ${name}`, ...figuresOf(points)]).join('\n\n');
}

function figuresOf(points: readonly Compared[]): string[] {
  const titles = [...new Set(points.map(({ figure }) => figure))];
  return titles.flatMap((title) => {
    const rows = points.filter(({ figure }) => figure === title).map(pointCells);
    const measured = ['Measured', 'Standard error', 'In errors', 'Off', 'Seeds'];
    return [`### ${title}`, table(['Point', 'From', 'Expected', ...measured], rows)];
  });
}

/** Returns the cells of a point that do not depend on any run. */
export function expectedCells({ point, from, expected }: Omit<Expected, 'figure'>): string[] {
  return [point, from, figure(expected)];
}

function pointCells(one: Compared): string[] {
  const { measured, standardError, offErrors, least, most } = one;
  return [
    ...expectedCells(one),
    figure(measured),
    figure(standardError),
    offErrors === null ? '–' : offErrors.toFixed(1),
    dashed(offText(one)),
    least === most ? '–' : `${figure(least)} to ${figure(most)}`,
  ];
}

/** Returns how far each reproduction is from its sources. */
export function summaryTable(reproduced: readonly Reproduced[]): string {
  const rows = reproduced.map(({ name, points }) => {
    return [`\`${name}\``, String(points.length), summaryOf(points)];
  });
  const all = reproduced.flatMap(({ points }) => points);
  return [table(['`--reproduce`', 'Points', 'Deviations'], rows), totalOf(all)].join('\n\n');
}

function summaryOf(points: readonly Compared[]): string {
  const own = (origin: Compared['from']) => points.filter(({ from }) => from === origin);
  const isExact = ({ expected, measured, standardError }: Compared) =>
    expected === measured && standardError === null;
  return [
    counted(points.filter(isExact), 'exact'),
    deviationText(points),
    counted(own('bound'), `at most ${mostOf(own('bound'), (off) => 100 + off)} % of a bound`),
    counted(own('published'), `published, at most ${mostOf(own('published'), Math.abs, 1)} % off`),
    counted(own('refuted'), 'refuted'),
    counted(own('none'), 'only measured'),
  ]
    .filter((text) => text !== '')
    .join('; ');
}

function counted({ length }: readonly Compared[], what: string): string {
  return length === 0 ? '' : `${length} ${what}`;
}

function mostOf(points: readonly Compared[], of: (offPercent: number) => number, digits = 0): string {
  return Math.max(...points.map(({ offPercent }) => of(offPercent ?? 0))).toFixed(digits);
}

function deviationText(points: readonly Compared[]): string {
  const deviations = deviationsOf(points);
  if (deviations === null) return '';
  const { points: count, rms, farthest } = deviations;
  return `${count} by ${rms.toFixed(2)} standard errors (rms), at most ${Math.abs(farthest).toFixed(1)}`;
}

/** Returns two lines about all deviations, which are no wider than lines of pages. */
function totalOf(points: readonly Compared[]): string {
  const deviations = deviationsOf(points);
  if (deviations === null) return '';
  const off = points.flatMap(({ from, offErrors }) => (from === 'refuted' ? [] : (offErrors ?? [])));
  const over = (limit: number) => off.filter((errors) => Math.abs(errors) > limit).length;
  const { points: count, rms, farthest } = deviations;
  const [two, three] = [(0.0455 * count).toFixed(0), (0.0027 * count).toFixed(1)];
  return [
    `${count} points have a formula and a standard error. Their deviations have an rms of ${rms.toFixed(2)} standard errors.`,
    `${over(2)} exceed 2 (chance: ${two}), and ${over(3)} exceed 3 (chance: ${three}). The farthest is ${farthest.toFixed(1)}.`,
  ].join('\n');
}

/** Returns the results of two crashes and of a partition, for twenty nodes. */
export function failureTable(reproduced: readonly Reproduced[]): string {
  const points = reproduced.flatMap(({ name, points }) => (name === 'failures' ? points : []));
  const ofFigure = (title: string) =>
    new Map(points.flatMap((one) => (one.figure === title ? [[one.point, one] as const] : [])));
  const agreed = ofFigure('Two crashes: share of runs that agree');
  const columns = [
    'Two crashes: time to agreement',
    'Partition: leaders of the minority',
    'Partition: leaders of the majority',
    'Partition: time from its end to agreement',
  ].map(ofFigure);
  const rows = [...agreed.values()]
    .filter(({ point }) => point.endsWith('N = 20'))
    .map((one) => [
      `\`${one.point.replace(/,.*/, '')}\``,
      `${Math.round(one.measured * one.runs)} of ${one.runs}`,
      ...columns.map((column) => withError(column.get(one.point))),
    ]);
  const head = ['Two crashes: agree', 'after ms', 'Cut off: leaders of the minority', 'of the majority'];
  return table(['Election', ...head, 'Reunited: agree after ms'], rows);
}

function withError(one: Compared | undefined): string {
  if (one === undefined) return 'never';
  const { measured, standardError } = one;
  return standardError === null
    ? figure(measured)
    : `${figure(measured)} ±${figure(Number(standardError.toPrecision(2)))}`;
}

/** Returns the results of all elections with fifty nodes. */
export function fiftyTable(results: readonly Result[]): string {
  const names = [...new Set(results.map(({ algorithm }) => algorithm))];
  const rows = names.map((name) => {
    const own = results.filter(({ algorithm }) => algorithm === name);
    const start = own.find(({ conditions }) => conditions.scenario === 'start')?.measures ?? {};
    return [
      `\`${name}\``,
      ...own.flatMap(timeAndMessages),
      ...[start.rounds, start.leaders, start.upkeep].map(meanOf),
    ];
  });
  const scenarios = ['start', 'crash', 'join'].flatMap((scenario) => [`${scenario}: ms`, 'messages']);
  return table(['Election', ...scenarios, 'rounds', 'leaders', 'upkeep/s'], rows);
}

function timeAndMessages({ measures }: Result): string[] {
  const { agreed, time, messages } = measures;
  if (agreed === undefined || agreed.mean === 0) return ['never', '–'];
  const share = agreed.mean === 1 ? '' : ` (${(100 * agreed.mean).toFixed(0)} %)`;
  return [`${time === undefined ? '–' : grouped(time.mean.toFixed(0))}${share}`, meanOf(messages)];
}

function meanOf(summary: Summary | undefined): string {
  if (summary === undefined) return '–';
  return grouped(summary.mean.toFixed(summary.mean < 100 ? 1 : 0).replace(/\.0$/, ''));
}

function figure(value: number | null): string {
  return value === null ? '–' : grouped(number(value));
}

function dashed(text: string): string {
  return text === '-' ? '–' : text;
}

/** Separates thousands with commas. */
function grouped(text: string): string {
  return text.replaceAll(/\B(?<!\.\d*)(?=(?:\d{3})+(?!\d))/g, ',');
}
