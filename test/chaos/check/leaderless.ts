/**
 * Measures for how long a slot that should have a leader had none, and compares this time with a bound.
 *
 * A node leads from the instant at which a client first reads that it is READY. It leads until its release
 * begins or its workload is dead, whichever comes first. What the ensemble still says about a dead leader
 * does not count.
 *
 * The bound is that of invariant 5: session timeout + release + takeover + watchdog × failing nodes. If no
 * node fell silent, the session timeout does not count, because a guardian ends the session of an agent that
 * died.
 *
 * A clock measures the time that counts against the bound. The clock starts when leadership is lost or the
 * slot is created. The clock starts again at each fault that begins while the slot has no leader. A time that
 * was too long before such a fault remains too long. The clock stops while the faults together leave no node
 * that could decide, or fewer eligible nodes than slots. Afterwards, the clock starts again.
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
  /**
   * Slots whose leaders the fault may move even if those leaders are not in `nodes`. Undefined means all
   * slots.
   */
  readonly slots: readonly number[] | undefined;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Gap {
  readonly slot: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly lengthMs: number;
  /**
   * Time that counts against the bound. It is the longest time for which the clock ran without a new start.
   */
  readonly countedMs: number;
  readonly boundMs: number;
  /** The sum that makes up the bound, as text. */
  readonly bound: string;
  /** Whether the gap lasted until the end of the run. */
  readonly open: boolean;
  /** Previous leader. Null if the slot has had none since it last became a slot of the group. */
  readonly lost: string | null;
  /** Whether the gap is the time until the slot's first leader. */
  readonly isFirst: boolean;
  /** Faults that were active during the gap or right before it. */
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

/** Returns the spans in which a node led the slot. */
function ledSpans(leaderships: readonly LeadershipSpan[], answers: readonly Answer[], run: Run): Led[] {
  const learnedAtMs = new Map<string, number>();
  for (const { leader, answeredAtMs } of answers) {
    if (leader?.status !== 'READY') continue;
    learnedAtMs.set(
      leader.token,
      Math.min(answeredAtMs, learnedAtMs.get(leader.token) ?? Number.POSITIVE_INFINITY),
    );
  }
  return leaderships.flatMap(({ node, token, lastWorkMs, releaseMs }) => {
    const fromMs = learnedAtMs.get(token);
    const lives = run.endedAtMs - lastWorkMs < aliveMs;
    const toMs = Math.min(releaseMs ?? Number.POSITIVE_INFINITY, lives ? run.endedAtMs : lastWorkMs);
    return fromMs === undefined || fromMs >= toMs ? [] : [{ node, fromMs, toMs }];
  });
}

/** Maximum age of the last beat of a workload that counts as alive. */
const aliveMs = 1_000;

/** Maximum time from the end of a fault to a loss of leadership that the fault may have caused. */
const rightBeforeMs = 1_500;

/** Returns the gaps of one slot in chronological order. `leaderships` and `answers` cover all slots. */
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

/** Returns those parts of a span in which no node led. */
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

/**
 * Measures a span against its bound. Each failing node adds watchdog time to the bound, except the node
 * `own`.
 */
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

/** Returns the longest time for which the clock ran without a new start. */
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

/** Whether the faults together leave no node that could decide, or too few nodes that are eligible. */
function blocks(faults: readonly FaultSpan[], { nodes, leaders }: Run): boolean {
  const hampered = new Set(faults.flatMap((fault) => fault.nodes));
  const eligible = nodes.filter((node) => !hampered.has(node));
  return faults.some((fault) => fault.blocks) || eligible.length < leaders;
}

/**
 * Returns the bound and its terms. A hook that hangs ends after its timeout and two grace periods: one before
 * the hook is killed, and one until the kill is complete. The session timeout counts only if a node fell
 * silent. If only an agent dies, or if a node leaves, the session is closed.
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
 * Finds losses of leadership that have no cause. In the last two session timeouts before the loss, no fault
 * affected the leader or could move the leader of its slot. A loss is dated to the workload's last beat,
 * which may precede the event that ended the workload.
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

/** Finds leaderships that continued for too long after the configuration no longer had their slot. */
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
