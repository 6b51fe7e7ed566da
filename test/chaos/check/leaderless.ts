/**
 * How long nobody led, and how long that might have been.
 *
 * Somebody leads from when a client was first told that it is READY until its release begins or its workload is dead,
 * whichever comes first: what the ensemble still says of a dead leader counts for nothing.
 *
 * The bound is that of invariant 5: session timeout + release + takeover + watchdog × failing nodes; without the session
 * timeout where nobody fell silent, because a guardian ends the session of an agent that died. It runs from when
 * leadership was lost, and anew from each fault that comes while nobody leads: what was overdue before that stays so. It
 * stands still while the faults together leave nobody who could lead or decide, and begins anew when they no longer do.
 */
import type { Answer, Change, NemesisRecord, Run } from '../records.js';
import type { Tenure } from './tenures.js';
import type { Violation } from './violation.js';

export interface FaultSpan {
  readonly id: string;
  readonly kind: string;
  readonly nodes: readonly string[];
  readonly ensemble: boolean;
  readonly blocks: boolean;
  readonly silences: boolean;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
  readonly lengthMs: number;
  /** What counts against the bound: the longest that its clock ran. */
  readonly countedMs: number;
  readonly boundMs: number;
  /** The bound, put together. */
  readonly bound: string;
  /** Whether it ended. */
  readonly open: boolean;
  /** Who led before; null: nobody ever had. */
  readonly lost: string | null;
  /** What was done while nobody led, or right before. */
  readonly faults: readonly FaultSpan[];
}

export function faultSpans(nemesis: readonly NemesisRecord[], run: Run): FaultSpan[] {
  const ends = new Map<string, number>();
  for (const record of nemesis) if (record.event === 'end') ends.set(record.id, record.atMs);
  return nemesis.flatMap((record) => {
    if (record.event !== 'begin') return [];
    const { id, kind, nodes, ensemble, blocks, silences, atMs } = record;
    return [
      { id, kind, nodes, ensemble, blocks, silences, fromMs: atMs, toMs: ends.get(id) ?? run.endedAtMs },
    ];
  });
}

interface Led {
  readonly node: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** When somebody led, in time. */
function ledSpans(tenures: readonly Tenure[], answers: readonly Answer[], run: Run): Led[] {
  const told = new Map<string, number>();
  for (const { leader, answeredAtMs } of answers) {
    if (leader?.status !== 'READY') continue;
    told.set(leader.token, Math.min(answeredAtMs, told.get(leader.token) ?? Number.POSITIVE_INFINITY));
  }
  return tenures.flatMap(({ node, token, lastWorkMs, releaseMs }) => {
    const fromMs = told.get(token);
    const lives = run.endedAtMs - lastWorkMs < aliveMs;
    const toMs = Math.min(releaseMs ?? Number.POSITIVE_INFINITY, lives ? run.endedAtMs : lastWorkMs);
    return fromMs === undefined || fromMs >= toMs ? [] : [{ node, fromMs, toMs }];
  });
}

/** A workload that has beaten as lately as this lives. */
const aliveMs = 1_000;

/** A fault that was taken back as long ago as this may still be what a loss of leadership goes back to. */
const rightBeforeMs = 1_500;

/** From the first leader on. */
export function gaps(
  tenures: readonly Tenure[],
  answers: readonly Answer[],
  faults: readonly FaultSpan[],
  run: Run,
): Gap[] {
  const found: Gap[] = [];
  let last: Led | null = null;
  for (const led of ledSpans(tenures, answers, run).toSorted((one, other) => one.fromMs - other.fromMs)) {
    if (last !== null && led.fromMs > last.toMs) found.push(gap(last, led.fromMs, false, faults, run));
    if (last === null || led.toMs > last.toMs) last = led;
  }
  if (last !== null && last.toMs < run.endedAtMs) found.push(gap(last, run.endedAtMs, true, faults, run));
  return found;
}

/** Until the first leader: from when somebody had a seat, and could be elected. */
export function firstGap(
  tenures: readonly Tenure[],
  answers: readonly Answer[],
  changes: readonly Change[],
  faults: readonly FaultSpan[],
  run: Run,
): Gap {
  const seated = changes.find(({ op, path }) => op === 'create' && path.startsWith('/election/'));
  const starts = ledSpans(tenures, answers, run).map((led) => led.fromMs);
  const toMs = Math.min(run.endedAtMs, ...starts);
  const fromMs = Math.min(seated?.atMs ?? run.startedAtMs, toMs);
  return gap({ node: null, toMs: fromMs }, toMs, starts.length === 0, faults, run);
}

function gap(
  { node: lost, toMs: fromMs }: { readonly node: string | null; readonly toMs: number },
  toMs: number,
  open: boolean,
  faults: readonly FaultSpan[],
  run: Run,
): Gap {
  const since = (lengthMs: number) => {
    return faults.filter((fault) => fault.fromMs <= toMs && fault.toMs >= fromMs - lengthMs);
  };
  const near = since(run.sessionTimeoutMs);
  const hampered = new Set(near.flatMap(({ nodes }) => nodes));
  const failing = [...hampered].filter((node) => node !== lost).length;
  return {
    fromMs,
    toMs,
    lengthMs: toMs - fromMs,
    countedMs: longestClock(fromMs, toMs, near, run.nodes),
    ...boundOf(run, failing, near),
    open,
    lost,
    faults: since(rightBeforeMs),
  };
}

/** How long the clock ran at most, from one of its beginnings to the next, or to `toMs`. */
function longestClock(
  fromMs: number,
  toMs: number,
  faults: readonly FaultSpan[],
  nodes: readonly string[],
): number {
  const turns = faults
    .flatMap((fault) => [fault.fromMs, fault.toMs])
    .filter((at) => at > fromMs && at < toMs);
  const instants = [fromMs, ...turns.sort((one, other) => one - other), toMs];
  let sinceMs = fromMs;
  let longestMs = 0;
  instants.slice(1).forEach((nextMs, index) => {
    const atMs = instants[index] ?? fromMs;
    const isBlocked = blocks(
      faults.filter((fault) => fault.fromMs <= atMs && fault.toMs > atMs),
      nodes,
    );
    if (faults.some((fault) => fault.fromMs === atMs)) sinceMs = atMs;
    if (isBlocked) sinceMs = nextMs;
    longestMs = Math.max(longestMs, nextMs - sinceMs);
  });
  return longestMs;
}

/** Whether faults together leave nobody who could lead or decide. */
function blocks(faults: readonly FaultSpan[], nodes: readonly string[]): boolean {
  const hampered = new Set(faults.flatMap((fault) => fault.nodes));
  return faults.some((fault) => fault.blocks) || nodes.every((node) => hampered.has(node));
}

/**
 * Hooks that hang end after their limit, a time of grace before they are killed, and another before that is done.
 * A session is waited for only when somebody fell silent: who dies alone, or leaves, has its session ended.
 */
function boundOf(
  run: Run,
  failing: number,
  faults: readonly FaultSpan[],
): { boundMs: number; bound: string } {
  const { sessionTimeoutMs, claimMs, exclusionMs, ensembleMs, slackMs } = run;
  const releaseMs = run.releaseMs + 2 * run.graceMs;
  const takeoverMs = run.takeoverMs + 2 * run.graceMs;
  const watchdogMs = Math.max(claimMs, takeoverMs) + releaseMs;
  const parts: [string, number][] = [
    ['session', faults.some(({ silences }) => silences) ? sessionTimeoutMs : 0],
    ['release', releaseMs],
    ['takeover', takeoverMs],
    [`${failing} failing × watchdog`, failing * watchdogMs],
    ['exclusion', failing > 0 ? exclusionMs : 0],
    ['election of the ensemble', faults.some(({ ensemble }) => ensemble) ? ensembleMs : 0],
    ['slack', slackMs],
  ];
  const used = parts.filter(([, ms]) => ms > 0);
  return {
    boundMs: used.reduce((sum, [, ms]) => sum + ms, 0),
    bound: used.map(([name, ms]) => `${name} ${ms / 1000}`).join(' + '),
  };
}

export function tooLong(all: readonly Gap[]): Violation[] {
  return all
    .filter(({ countedMs, boundMs }) => countedMs > boundMs)
    .map(({ fromMs, countedMs, boundMs, bound, open, faults }) => {
      const how = `${seconds(countedMs)}${open ? ' and not ended' : ''}, bound ${seconds(boundMs)} (${bound})`;
      const why = faults.map(({ id, kind }) => `${id} ${kind}`).join(', ') || 'no fault';
      return { rule: 'a leader in time', what: `nobody led for ${how}; ${why}`, atMs: fromMs };
    });
}

/** Leadership was lost though nothing had been done for two session timeouts. */
export function lostForNothing(all: readonly Gap[], faults: readonly FaultSpan[], run: Run): Violation[] {
  return all
    .filter(({ fromMs }) => {
      return !faults.some((one) => one.fromMs <= fromMs && one.toMs >= fromMs - 2 * run.sessionTimeoutMs);
    })
    .map(({ fromMs, lost }) => {
      const what = `${lost} stopped leading without a fault`;
      return { rule: 'no move without a cause', what, atMs: fromMs };
    });
}

function seconds(lengthMs: number): string {
  return `${(lengthMs / 1000).toFixed(2)} s`;
}
