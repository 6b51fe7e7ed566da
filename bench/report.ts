/** Formats the measurements of a run as Markdown. */
import { bestPeer, type Goal, judge, names, round, scenarios } from './goals.js';
import { scaleScenario } from './scenarios/scale.js';
import type { Samples, Spread } from './statistics.js';

export interface Run {
  readonly samples: Samples;
  /** Names of the other contenders on ZooKeeper. */
  readonly peers: readonly string[];
  /** Sizes of the scenario that has many participants. */
  readonly sizes: readonly number[];
  /** Contenders that are not available on this machine, and measurements that failed. */
  readonly missing: readonly string[];
  /** The command of the run. The next two fields are its time and its machine. */
  readonly command: string;
  readonly at: string;
  readonly machine: string;
  /** Names of the plot files next to the page, by scenario. */
  readonly plots: ReadonlyMap<string, string>;
}

interface Row {
  readonly name: string;
  readonly spread: Spread;
}

export function report(run: Run): string {
  const { samples, peers, sizes } = run;
  return [
    `\`${run.command}\`, ${run.at}: ${run.machine}.`,
    ...(run.missing.length === 0 ? [] : [run.missing.map((line) => `- ${line}`).join('\n')]),
    '## Goals',
    goalTable(judge(samples, peers, sizes)),
    ...handovers(run),
    ...crashes(run),
    ...starts(run),
    ...scales(run),
    ...idles(run),
  ].join('\n\n');
}

export function goalTable(goals: readonly Goal[]): string {
  const rows = goals.map(({ text, isMet, figure }) => [
    text,
    isMet === null ? '–' : isMet ? 'met' : 'not met',
    figure,
  ]);
  return table(['goal', '', 'this run'], rows);
}

function handovers(run: Run): string[] {
  return [scenarios.handover3, scenarios.handover1].flatMap((scenario) =>
    section(
      run,
      scenario,
      `Planned ${scenario}`,
      'Three nodes. From SIGTERM to the leader until the next one leads (Petrel: until its takeover hook has started), in ms:',
      compared(run, scenario, 'handover', 'transition', ['handover with commands']),
      'From the end of the release (Petrel), or the call to give leadership up (the others), until the next one leads, in ms:',
      compared(run, scenario, 'gap', 'transition', ['transition with commands']),
      'Processor time of all processes of the three nodes from SIGTERM until 0.3 s after the end of the old leader, in ms:',
      compared(run, scenario, 'cpu', null),
    ),
  );
}

function crashes(run: Run): string[] {
  const { crash } = scenarios;
  return section(
    run,
    crash,
    'The leader dies, three servers',
    'Three nodes, session timeout 6 s, `kill -9` of the process that is in touch with ZooKeeper. Until the next one leads, in ms:',
    compared(run, crash, 'crash', 'session'),
    'The same of everything that a node has (agent, guardian, reaper and workload, at once), in ms:',
    compared(run, crash, 'host', 'session'),
  );
}

function starts(run: Run): string[] {
  const { start } = scenarios;
  return section(
    run,
    start,
    'From start to leader',
    'One server, nobody else in the group. From the start of the process until it leads, in ms:',
    compared(run, start, 'start', 'commit'),
  );
}

function scales(run: Run): string[] {
  const { samples, sizes } = run;
  return sizes.flatMap((size) => {
    const scenario = scaleScenario(scenarios.scale, size);
    const rows = samples
      .contenders(scenario, 'joining')
      .map((name) => [
        name,
        ...['requests', 'notifications', 'bytes', 'notification bytes', 'resident', 'joining'].map(
          (measure) => medianOf(samples, scenario, name, measure),
        ),
        operations(samples, scenario, name),
      ]);
    const head = [
      '',
      'requests',
      'notifications',
      'bytes',
      'of notifications',
      'MB',
      'joining, s',
      'requests by kind',
    ];
    return section(
      run,
      scenario,
      `${size} participants`,
      'One server, all participants in one process, each with a session of its own. From the call to leave until the next one leads, in ms:',
      compared(run, scenario, 'handover', null),
      'What clients and server say to each other from that call until a second after it, pings apart; the memory of the process (resident), and how long all took to join:',
      rows.length === 0 ? '' : table(head, rows),
    );
  });
}

function operations(samples: Samples, scenario: string, name: string): string {
  const prefix = 'of ';
  const kinds = new Set(
    samples.all.map(({ measure }) => measure).filter((measure) => measure.startsWith(prefix)),
  );
  return [...kinds]
    .flatMap((measure) => {
      const count = samples.spread(scenario, name, measure)?.median;
      return count === undefined ? [] : [`${measure.slice(prefix.length)} ${round(count)}`];
    })
    .join(', ');
}

function idles(run: Run): string[] {
  const { idle } = scenarios;
  const { samples } = run;
  const measures = ['cpu of the leader', 'cpu of the others', 'resident', 'proportional', 'packets'];
  const rows = samples
    .contenders(idle, 'cpu of the leader')
    .map((name) => [name, ...measures.map((measure) => medianOf(samples, idle, name, measure))]);
  const head = ['', 'leader, s/h', 'another, s/h', 'MB resident', 'MB proportional', 'packets/s'];
  return section(
    run,
    idle,
    'Idle',
    'One server, three nodes, session timeout 6 s (etcdctl: 60 s). Of one node: seconds of processor an hour, its memory (all its processes; what is shared counts in full, or by its share), and what it asks the server a second, pings included:',
    rows.length === 0 ? '' : table(head, rows),
  );
}

/** Returns a section of the report. Returns no lines for a scenario that was not run. */
function section(run: Run, scenario: string, title: string, ...parts: readonly string[]): string[] {
  if (!run.samples.scenarios().includes(scenario)) return [];
  const plot = run.plots.get(scenario);
  const picture = plot === undefined ? [] : [`![${title}](${plot})`];
  const heading = `${title.slice(0, 1).toUpperCase()}${title.slice(1)}`;
  return [`## ${heading}`, ...picture, ...parts.filter((part) => part !== '')];
}

/**
 * Returns one row for each contender. Compares it with the best peer, and with the lower bound if that was
 * measured.
 */
export function compared(
  run: Run,
  scenario: string,
  measure: string,
  limitMeasure: string | null,
  furtherLimits: readonly string[] = [],
): string {
  const { samples, peers } = run;
  const rows: Row[] = samples.contenders(scenario, measure).flatMap((name) => {
    const spread = samples.spread(scenario, name, measure);
    return spread === null ? [] : [{ name, spread }];
  });
  const limit = limitMeasure === null ? null : samples.spread(scenario, names.limit, limitMeasure);
  const best = bestPeer(samples, scenario, measure, peers);
  const ratio = (value: number, to: number | undefined) =>
    to === undefined ? '–' : `${(value / to).toFixed(2)}`;
  const cells = ({ name, spread }: Row) => [
    name,
    `${spread.count}`,
    round(spread.median),
    `${round(spread.low)} – ${round(spread.high)}`,
    ratio(spread.median, best?.median),
    ratio(spread.median, limit?.median),
  ];
  const head = ['', 'times', 'median', '10 % – 90 %', '× best peer', '× limit'];
  const limits = [limitMeasure ?? '', ...furtherLimits].flatMap((what): Row[] => {
    const spread = samples.spread(scenario, names.limit, what);
    return spread === null ? [] : [{ name: `limit: ${limitText[what] ?? what}`, spread }];
  });
  return table(head, [...rows, ...limits].map(cells));
}

const limitText: Readonly<Record<string, string>> = {
  commit: 'one committed write',
  transition: 'two commits and a notification',
  'transition with commands': 'the same, and one command that ends and one that starts',
  'handover with commands': 'two commits and a notification, and two commands that start, one of which ends',
  session: 'end of a silent session',
};

function medianOf(samples: Samples, scenario: string, name: string, measure: string): string {
  const spread = samples.spread(scenario, name, measure);
  return spread === null ? '–' : round(spread.median);
}

/** Returns a Markdown table with right-aligned numbers and left-aligned text. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const isFigure = (column: number) => rows.every((row) => /^[\d.,]+$|^–$/.test(row[column] ?? ''));
  const rule = head.map((_, column) => (isFigure(column) ? '---:' : '---'));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}

export const markers = markersOf('measured');

/** Returns the lines before and after some measurements in a page. */
function markersOf(name: string) {
  return { begin: `<!-- ${name}: begin -->`, end: `<!-- ${name}: end -->` };
}

/** Replaces the measurements of this name in the page. Throws if the page has no markers for them. */
export function withMeasured(page: string, measured: string, name = 'measured'): string {
  const own = markersOf(name);
  const begin = page.indexOf(own.begin);
  const end = page.indexOf(own.end);
  if (begin < 0 || end < begin) throw new Error(`the page has no lines ${own.begin} and ${own.end}`);
  return `${page.slice(0, begin + own.begin.length)}\n\n${measured}\n\n${page.slice(end)}`;
}
