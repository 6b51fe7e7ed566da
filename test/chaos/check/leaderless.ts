/**
 * How long nobody led a slot that is to be led, and how long that might have been.
 *
 * Somebody leads from when a client was first told that it is READY until its release begins or its workload
 * is dead, whichever comes first: what the ensemble still says of a dead leader counts for nothing.
 *
 * The bound is that of invariant 5: session timeout + release + takeover + watchdog × failing nodes; without
 * the session timeout where nobody fell silent, because a guardian ends the session of an agent that died. It
 * runs from when leadership was lost, or the slot came to be, and anew from each fault that comes while
 * nobody leads: what was overdue before that stays so. It stands still while the faults together leave nobody
 * who could decide, or fewer who could lead than there are slots, and begins anew when they no longer do.
 */
import type { Answer, Change, NemesisRecord, Run, RunRecords } from '../records.js';
import { type LeadershipSpan, nameOf } from './leaderships.js';
import { inSlot, type Violation } from './violation.js';
import { type Span, unwantedSpans, wantedSpans } from './wanted.js';

export interface FaultSpan {
  readonly id: string;
  readonly kind: string;
  readonly nodes: readonly string[];
  readonly ensemble: boolean;
  readonly blocks: boolean;
  readonly silences: boolean;
  /** Whose leaders it may move though they are none of `nodes`; undefined: all. */
  readonly slots: readonly number[] | undefined;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Gap {
  readonly slot: number;
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
  /** Who led before; null: nobody had since the slot came to be. */
  readonly lost: string | null;
  /** Until the slot's first leader. */
  readonly isFirst: boolean;
  /** What was done while nobody led, or right before. */
  readonly faults: readonly FaultSpan[];
}

export function faultSpans(nemesis: readonly NemesisRecord[], run: Run): FaultSpan[] {
  const ends = new Map<string, number>();
  for (const record of nemesis) if (record.event === 'end') ends.set(record.id, record.atMs);
  return nemesis.flatMap((record) => {
    if (record.event !== 'begin') return [];
    const { id, kind, nodes, ensemble, blocks, silences, slots, atMs } = record;
    return [
      {
        ...{ id, kind, nodes, ensemble, blocks, silences, slots },
        ...{ fromMs: atMs, toMs: ends.get(id) ?? run.endedAtMs },
      },
    ];
  });
}

interface Led extends Span {
  readonly node: string;
}

/** When somebody led one slot. */
function ledSpans(leaderships: readonly LeadershipSpan[], answers: readonly Answer[], run: Run): Led[] {
  const told = new Map<string, number>();
  for (const { leader, answeredAtMs } of answers) {
    if (leader?.status !== 'READY') continue;
    told.set(leader.token, Math.min(answeredAtMs, told.get(leader.token) ?? Number.POSITIVE_INFINITY));
  }
  return leaderships.flatMap(({ node, token, lastWorkMs, releaseMs }) => {
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

/** Of one slot, in time; `leaderships` and `answers` are of all. */
export function gapsOf(
  slot: number,
  { answers, changes, run }: Pick<RunRecords, 'answers' | 'changes' | 'run'>,
  leaderships: readonly LeadershipSpan[],
  faults: readonly FaultSpan[],
): Gap[] {
  const ofIt = <T extends { readonly slot: number }>(all: readonly T[]) => {
    return all.filter((one) => one.slot === slot);
  };
  const leds = ledSpans(ofIt(leaderships), ofIt(answers), run).toSorted(
    (one, other) => one.fromMs - other.fromMs,
  );
  return wantedSpans(slot, changes, run).flatMap((wanted, index) => {
    return holesIn(wanted, leds).map(({ lost, fromMs, toMs }): Gap => {
      const isFirst = index === 0 && lost === null;
      const open = toMs === run.endedAtMs;
      return { slot, lost, isFirst, open, ...measured({ fromMs, toMs }, lost, faults, run) };
    });
  });
}

interface Hole extends Span {
  readonly lost: string | null;
}

/** The parts of a span in which nobody led. */
function holesIn(wanted: Span, leds: readonly Led[]): Hole[] {
  const holes: Hole[] = [];
  let lost: string | null = null;
  let sinceMs = wanted.fromMs;
  for (const led of leds) {
    if (led.toMs <= sinceMs || led.fromMs >= wanted.toMs) continue;
    if (led.fromMs > sinceMs) holes.push({ lost, fromMs: sinceMs, toMs: led.fromMs });
    lost = led.node;
    sinceMs = led.toMs;
  }
  return sinceMs < wanted.toMs ? [...holes, { lost, fromMs: sinceMs, toMs: wanted.toMs }] : holes;
}

type Measured = Pick<Gap, 'fromMs' | 'toMs' | 'lengthMs' | 'countedMs' | 'boundMs' | 'bound' | 'faults'>;

/** A time against its bound. `own`: the node whose own failing needs no watchdog. */
function measured(
  { fromMs, toMs }: Span,
  own: string | null,
  faults: readonly FaultSpan[],
  run: Run,
): Measured {
  const since = (lengthMs: number) => {
    return faults.filter((fault) => fault.fromMs <= toMs && fault.toMs >= fromMs - lengthMs);
  };
  const near = since(run.sessionTimeoutMs);
  const hampered = new Set(near.flatMap(({ nodes }) => nodes));
  const failing = [...hampered].filter((node) => node !== own).length;
  return {
    fromMs,
    toMs,
    lengthMs: toMs - fromMs,
    countedMs: longestClock(fromMs, toMs, near, run),
    ...boundOf(run, failing, near),
    faults: since(rightBeforeMs),
  };
}

/** How long the clock ran at most, from one of its beginnings to the next, or to `toMs`. */
function longestClock(fromMs: number, toMs: number, faults: readonly FaultSpan[], run: Run): number {
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
      run,
    );
    if (faults.some((fault) => fault.fromMs === atMs)) sinceMs = atMs;
    if (isBlocked) sinceMs = nextMs;
    longestMs = Math.max(longestMs, nextMs - sinceMs);
  });
  return longestMs;
}

/** Whether faults together leave nobody who could decide, or too few who could lead. */
function blocks(faults: readonly FaultSpan[], { nodes, leaders }: Run): boolean {
  const hampered = new Set(faults.flatMap((fault) => fault.nodes));
  const eligible = nodes.filter((node) => !hampered.has(node));
  return faults.some((fault) => fault.blocks) || eligible.length < leaders;
}

/**
 * Hooks that hang end after their limit, a time of grace before they are killed, and another before that is
 * done. A session is waited for only when somebody fell silent: who dies alone, or leaves, has its session
 * ended.
 */
function boundOf(
  run: Run,
  failing: number,
  faults: readonly FaultSpan[],
): { boundMs: number; bound: string } {
  const { sessionTimeoutMs, claimMs, backoffMs, ensembleMs, slackMs } = run;
  const releaseMs = run.releaseMs + 2 * run.graceMs;
  const takeoverMs = run.takeoverMs + 2 * run.graceMs;
  const watchdogMs = Math.max(claimMs, takeoverMs) + releaseMs;
  const parts: [string, number][] = [
    ['session', faults.some(({ silences }) => silences) ? sessionTimeoutMs : 0],
    ['release', releaseMs],
    ['takeover', takeoverMs],
    [`${failing} failing × watchdog`, failing * watchdogMs],
    ['backoff', failing > 0 ? backoffMs : 0],
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
    .map(({ slot, fromMs, countedMs, boundMs, bound, open, faults }) => {
      const how = `${seconds(countedMs)}${open ? ' and not ended' : ''}, bound ${seconds(boundMs)} (${bound})`;
      const why = faults.map(({ id, kind }) => `${id} ${kind}`).join(', ') || 'no fault';
      return { rule: 'a leader in time', what: `nobody led${inSlot(slot)} for ${how}; ${why}`, atMs: fromMs };
    });
}

/**
 * Leadership was lost though for two session timeouts nothing had been done to that node, or that moves its
 * slot. When it was lost is known by the last beat, which may be earlier than what ended the workload.
 */
export function lostForNothing(all: readonly Gap[], faults: readonly FaultSpan[], run: Run): Violation[] {
  return all.flatMap(({ slot, fromMs, lost }) => {
    if (lost === null) return [];
    const recent = faults.filter((one) => {
      return one.fromMs <= fromMs + run.slackMs && one.toMs >= fromMs - 2 * run.sessionTimeoutMs;
    });
    if (recent.some((one) => reaches(one, slot, lost))) return [];
    const what = `${lost} stopped leading${inSlot(slot)} without a fault`;
    return [{ rule: 'no move without a cause', what, atMs: fromMs }];
  });
}

function reaches({ slots, nodes }: FaultSpan, slot: number, node: string): boolean {
  return slots === undefined || slots.includes(slot) || nodes.includes(node);
}

/** Who worked in slots for longer than it may take after the configuration had no such slot any more. */
export function keptTooLong(
  slot: number,
  changes: readonly Change[],
  leaderships: readonly LeadershipSpan[],
  faults: readonly FaultSpan[],
  run: Run,
): Violation[] {
  const spans = unwantedSpans(slot, changes, run);
  return leaderships.flatMap((leadership) => {
    const endMs = Math.max(leadership.lastWorkMs, leadership.lastReleaseMs ?? 0);
    return spans.flatMap(({ fromMs, toMs }) => {
      if (leadership.slot !== slot || leadership.startMs >= toMs || endMs <= fromMs) return [];
      const kept = measured({ fromMs, toMs: Math.min(endMs, toMs) }, leadership.node, faults, run);
      if (kept.countedMs <= kept.boundMs) return [];
      const how = `${seconds(kept.countedMs)}, bound ${seconds(kept.boundMs)} (${kept.bound})`;
      const what = `${nameOf(leadership)} worked on for ${how}, though the group has no such slot`;
      return [{ rule: 'slots are given up', what, atMs: fromMs }];
    });
  });
}

function seconds(lengthMs: number): string {
  return `${(lengthMs / 1000).toFixed(2)} s`;
}
