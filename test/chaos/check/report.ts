/**
 * Formats a verdict as text. The text has the violations with the records around them, and the figures of the
 * run.
 */
import type { RunRecords } from '../records.js';
import type { Verdict } from './check.js';
import type { Gap } from './leaderless.js';
import { type Margin, nameOf } from './leaderships.js';
import { inSlot, type Violation } from './violation.js';

const longestShown = 5;
const smallestShown = 3;
const aroundMs = 1_500;

export function reportText(verdict: Verdict, records: RunRecords): string {
  const { run } = records;
  const { violations } = verdict;
  return [
    `seed ${run.seed}, ${run.nodes.length} nodes, ${run.leaders === 1 ? '' : `${run.leaders} leaders, `}session timeout ${seconds(run.sessionTimeoutMs)}, ran for ${minutes(run.endedAtMs - run.startedAtMs)}`,
    `faults ${verdict.faults.length}, crashes ${verdict.crashes}, takeovers ${verdict.takeovers}, READY ${verdict.ready}, answers to "who leads" ${verdict.answers}`,
    '',
    ...faultTable(verdict),
    '',
    ...(run.leaders === 1 ? [] : [...slotTable(verdict), '']),
    ...verdict.firsts.map(({ slot, lengthMs, boundMs }) => {
      return `the first leader${inSlot(slot)} came after ${seconds(lengthMs)}, bound ${seconds(boundMs)}`;
    }),
    ...longestGaps(verdict.gaps, run.startedAtMs),
    '',
    "from one leader's end to the next one's start",
    ...smallestMargins('its claim deleted', verdict.handovers, run.startedAtMs),
    ...smallestMargins('its session ended', verdict.failovers, run.startedAtMs),
    '',
    violations.length === 0 ? 'no violation' : `${violations.length} VIOLATIONS`,
    ...violations.flatMap((violation) => ['', ...violationLines(violation, records)]),
  ].join('\n');
}

/**
 * Returns a table of leaderless times by kind of fault. A gap counts for a kind if there was only one fault
 * during the gap or right before it, and the fault was of that kind.
 */
function faultTable({ faults, gaps }: Verdict): string[] {
  const kinds = [...new Set(faults.map(({ kind }) => kind))].sort();
  const rows = kinds.map((kind) => {
    const alone = gaps.filter((gap) => gap.faults.length === 1 && gap.faults[0]?.kind === kind);
    return [kind, String(faults.filter((fault) => fault.kind === kind).length), ...gapCells(alone)];
  });
  const several = gaps.filter((gap) => gap.faults.length > 1);
  const none = gaps.filter((gap) => gap.faults.length === 0);
  return table([
    ['fault', 'times', 'leaderless', 'median s', 'longest s', 'counted s', 'bound s'],
    ...rows,
    ['several at once', '', ...gapCells(several)],
    ['no fault', '', ...gapCells(none)],
  ]);
}

/** Returns a table of slots with their leaders, leaderless times, handovers and failovers. */
function slotTable({ readyInSlot, gaps, handovers, failovers }: Verdict): string[] {
  const rows = readyInSlot.map((ready, index) => {
    const ofIt = <T>(all: readonly T[], slotOf: (one: T) => number) => {
      return all.filter((one) => slotOf(one) === index + 1);
    };
    const moved = [handovers, failovers].flatMap((margins) =>
      marginCells(ofIt(margins, ({ to }) => to.slot)),
    );
    return [String(index + 1), String(ready), ...gapCells(ofIt(gaps, ({ slot }) => slot)), ...moved];
  });
  const timesWithout = ['leaderless', 'median s', 'longest s', 'counted s', 'bound s'];
  const moved = ['handovers', 'smallest ms', 'failovers', 'smallest ms'];
  return table([['slot', 'READY', ...timesWithout, ...moved], ...rows]);
}

function marginCells(margins: readonly Margin[]): string[] {
  const smallest = Math.min(...margins.map(({ marginMs }) => marginMs));
  return [String(margins.length), margins.length === 0 ? '' : smallest.toFixed(1)];
}

/**
 * Returns the number of gaps, their median length and their maximum length. Then follow the gap that came
 * nearest to its bound, and that bound.
 */
function gapCells(gaps: readonly Gap[]): string[] {
  const lengths = gaps.map(({ lengthMs }) => lengthMs).sort((one, other) => one - other);
  const [worst] = gaps.toSorted(
    (one, other) => other.countedMs / other.boundMs - one.countedMs / one.boundMs,
  );
  const middle = lengths[Math.floor(lengths.length / 2)];
  return [
    String(gaps.length),
    middle === undefined ? '' : plain(middle),
    plain(lengths.at(-1)),
    plain(worst?.countedMs),
    plain(worst?.boundMs),
  ];
}

function longestGaps(gaps: readonly Gap[], startMs: number): string[] {
  const longest = gaps.toSorted((one, other) => other.countedMs - one.countedMs).slice(0, longestShown);
  return [
    'longest without a leader, as counted against the bound:',
    ...longest.map(({ slot, fromMs, lengthMs, countedMs, boundMs, bound, lost, faults }) => {
      const why = faults.map(({ id, kind, nodes }) => `${id} ${kind} ${nodes.join('+')}`.trim()).join(', ');
      return `  at ${at(fromMs, startMs)}: ${seconds(countedMs)} of ${seconds(lengthMs)}, bound ${seconds(boundMs)} = ${bound}; after ${lost ?? 'nobody'}${inSlot(slot)}; ${why || 'no fault'}`;
    }),
  ];
}

function smallestMargins(how: string, margins: readonly Margin[], startMs: number): string[] {
  const sorted = margins.toSorted((one, other) => one.marginMs - other.marginMs);
  const middle = sorted[Math.floor(sorted.length / 2)];
  return [
    `  ${how}: ${sorted.length} times, median ${middle === undefined ? '-' : seconds(middle.marginMs)}, smallest`,
    ...sorted.slice(0, smallestShown).map(({ from, to, atMs, marginMs }) => {
      return `    ${marginMs.toFixed(1)} ms at ${at(atMs, startMs)}, ${nameOf(from)} to ${nameOf(to)}`;
    }),
  ];
}

function violationLines({ rule, what, atMs }: Violation, records: RunRecords): string[] {
  const startMs = records.run.startedAtMs;
  const around = lines(recordsAround(records, atMs));
  return [
    `VIOLATION at ${at(atMs, startMs)}: ${rule}: ${what}`,
    ...around
      .toSorted((one, other) => one.atMs - other.atMs)
      .map((line) => `  ${at(line.atMs, startMs)} ${line.text}`),
  ];
}

function recordsAround(records: RunRecords, atMs: number): RunRecords {
  const near = (otherMs: number) => Math.abs(otherMs - atMs) <= aroundMs;
  return {
    run: records.run,
    hooks: records.hooks.filter(({ monotonicMs }) => near(monotonicMs)),
    answers: records.answers.filter(({ answeredAtMs }) => near(answeredAtMs)),
    changes: records.changes.filter((change) => near(change.atMs)),
    nemesis: records.nemesis.filter((record) => near(record.atMs)),
  };
}

interface Line {
  readonly atMs: number;
  readonly text: string;
}

/** Formats the records. Leaves out workload beats, and answers that repeat the previous answer. */
function lines({ hooks, answers, changes, nemesis }: RunRecords): Line[] {
  const answered = answers.map(({ answeredAtMs, leader, server, slot }) => {
    const text = leader === null ? 'nobody' : `${leader.node} ${leader.status}, token ${leader.token}`;
    return { atMs: answeredAtMs, server, slot, text };
  });
  return [
    ...hooks
      .filter(({ event }) => event !== 'beat')
      .map(({ monotonicMs, node, slot, phase, event, token, exitCode }) => ({
        atMs: monotonicMs,
        text: `hook    ${node} ${phase} ${event}${exitCode === null ? '' : ` with ${exitCode}`}${inSlot(slot)}, token ${token}`,
      })),
    ...answered
      .filter(
        (line, index) =>
          answered
            .slice(0, index)
            .findLast(({ server, slot }) => server === line.server && slot === line.slot)?.text !== line.text,
      )
      .map(({ atMs, server, slot, text }) => ({
        atMs,
        text: `answer  of server ${server}${inSlot(slot)}: ${text}`,
      })),
    ...changes.map(({ atMs, op, path, data, zxid }) => ({
      atMs,
      text: `znode   ${op} ${path} ${(data ?? '').slice(0, 160)} (zxid ${zxid})`,
    })),
    ...nemesis.map(({ atMs, event, ...more }) => ({
      atMs,
      text: `nemesis ${event} ${JSON.stringify(more)}`,
    })),
  ];
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => {
    const cells = row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    return cells.join('  ').trimEnd();
  });
}

function at(atMs: number, startMs: number): string {
  return `+${((atMs - startMs) / 1000).toFixed(3)}`;
}

function plain(lengthMs: number | undefined): string {
  return lengthMs === undefined ? '' : (lengthMs / 1000).toFixed(2);
}

function seconds(lengthMs: number): string {
  return `${plain(lengthMs)} s`;
}

function minutes(lengthMs: number): string {
  return `${(lengthMs / 60_000).toFixed(1)} min`;
}
