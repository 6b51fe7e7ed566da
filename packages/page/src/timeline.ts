/**
 * Prepares the history as rows and as a strip. The rows show the phases of each change of leader. The strip
 * shows the leaders over time, and the gaps between them.
 */
import type { ChangeRecord, History, Status, TransitionRecord } from './schemas.js';
import type { Leaderless } from './verdict.js';

export type Row = TransitionRow | ChangeRow;

export interface TransitionRow {
  readonly kind: 'transition';
  readonly key: string;
  readonly at: string;
  /** The slot of the transition. Null if the group has only one slot. */
  readonly slot: number | null;
  readonly term: number;
  readonly headline: string;
  readonly reason: string;
  readonly failed: boolean;
  readonly bars: readonly Bar[];
  /** Time without a leader. Null if the records do not show it. */
  readonly leaderlessMs: number | null;
  readonly leaderlessAtLeast: boolean;
  /** Lines that describe the failure of a hook. */
  readonly error: readonly string[];
}

export interface ChangeRow {
  readonly kind: 'change';
  readonly key: string;
  readonly at: string;
  readonly headline: string;
  readonly reason: string;
}

export interface Bar {
  readonly phase: 'release' | 'claim' | 'takeover';
  readonly lengthMs: number;
  /** Length as a share of the longest displayed change of leader, from 0 to 1. */
  readonly share: number;
}

/** Returns the rows in the order of the records, newest first. */
export function rowsOf({ records }: History): Row[] {
  const transitions = records.filter((record) => record.kind === 'transition');
  const longestMs = Math.max(1, ...transitions.map((record) => totalMs(parts(record))));
  return records.map((record, index) => {
    const key = `${record.kind} ${records.length - index}`;
    return record.kind === 'change' ? changeRow(record, key) : transitionRow(record, key, longestMs);
  });
}

function changeRow({ at, what, by, reason }: ChangeRecord, key: string): ChangeRow {
  const why = reason === null ? by : `${by}: ${reason}`;
  return { kind: 'change', key, at, headline: what, reason: why };
}

function transitionRow(record: TransitionRecord, key: string, longestMs: number): TransitionRow {
  const {
    electedAt,
    claimedAt,
    resumes,
    slot = null,
    term,
    reason,
    outcome,
    leaderlessMs,
    leaderlessAtLeast,
  } = record;
  return {
    kind: 'transition',
    key,
    at: resumes === null ? electedAt : (resumes.endedAt ?? claimedAt ?? electedAt),
    slot,
    term,
    headline: headlineOf(record),
    reason,
    failed: outcome !== 'READY',
    bars: parts(record).map((part) => ({ ...part, share: part.lengthMs / longestMs })),
    leaderlessMs,
    leaderlessAtLeast,
    error: errorLines(record),
  };
}

function headlineOf({ node, previous, outcome, cause, resumes }: TransitionRecord): string {
  const to = node ?? 'nobody';
  if (resumes !== null) return `${to} leads again (${cause})`;
  if (outcome === 'FAILED') return `${to} failed to take over (${cause})`;
  if (outcome === 'NOBODY') return `no node elected (${cause})`;
  const from = previous === null || previous.node === node ? '' : `${previous.node} → `;
  return `${from}${to} (${cause})`;
}

type Part = Pick<Bar, 'phase' | 'lengthMs'>;

/**
 * Returns the phases of a transition, shortened so that they do not overlap. The recorded time until the
 * claim includes the release, unless the release ended before the transition.
 */
function parts({ phases: { releaseMs, claimMs, takeoverMs }, release }: TransitionRecord): Part[] {
  const withinMs = release !== null && release.endedAt === null ? 0 : (releaseMs ?? 0);
  const all = [
    { phase: 'release', lengthMs: releaseMs },
    { phase: 'claim', lengthMs: claimMs === null ? null : Math.max(0, claimMs - withinMs) },
    { phase: 'takeover', lengthMs: takeoverMs },
  ] as const;
  return all.flatMap(({ phase, lengthMs }) => (lengthMs === null ? [] : [{ phase, lengthMs }]));
}

function totalMs(all: readonly Part[]): number {
  return all.reduce((sum, { lengthMs }) => sum + lengthMs, 0);
}

function errorLines({ error }: TransitionRecord): string[] {
  if (error === null) return [];
  const how = [
    error.command === null ? '' : `command ${error.command}`,
    error.exitCode === null ? '' : `exit code ${error.exitCode}`,
    error.signal === null ? '' : `signal ${error.signal}`,
  ].filter((part) => part !== '');
  const lines = how.length === 0 ? [] : [how.join(', ')];
  return [`${error.phase}: ${error.reason}`, ...lines, ...error.outputTail];
}

export interface Strip {
  readonly from: string;
  readonly to: string;
  readonly spans: readonly Span[];
}

export interface Span {
  /** The node that led. Null if no node led during this period. */
  readonly leader: string | null;
  readonly term: number | null;
  /** Start as a share of the whole strip, from 0 to 1. `length` has the same unit. */
  readonly start: number;
  readonly length: number;
  readonly lengthMs: number;
}

interface Leadership {
  readonly leader: string;
  readonly term: number;
  readonly fromMs: number;
}

/**
 * Returns the strip of one slot, from the first leader in the records to `toMs` (milliseconds since the
 * epoch). Returns null if the records contain no leader.
 */
export function stripOf(
  { records, gaps }: History,
  toMs: number,
  leaderless: Leaderless | null,
): Strip | null {
  const leaderships = records.flatMap(leadershipOf).toReversed();
  const fromMs = leaderships[0]?.fromMs;
  if (fromMs === undefined || toMs <= fromMs) return null;
  const led = leaderships.map((leadership, index) => {
    return { ...leadership, toMs: Math.min(toMs, leaderships[index + 1]?.fromMs ?? toMs) };
  });
  const leaderlessSpans = gaps.map((gap) => ({
    leader: null,
    term: null,
    fromMs: Math.max(fromMs, Date.parse(gap.from)),
    toMs: gap.to === null ? toMs : Date.parse(gap.to),
  }));
  const open = openGap(led.at(-1), leaderlessSpans, leaderless, toMs);
  const spans = [...led, ...leaderlessSpans, ...open].filter((span) => span.toMs > span.fromMs);
  const wholeMs = toMs - fromMs;
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    spans: spans.map((span) => ({
      leader: span.leader,
      term: span.term,
      start: (span.fromMs - fromMs) / wholeMs,
      length: (span.toMs - span.fromMs) / wholeMs,
      lengthMs: span.toMs - span.fromMs,
    })),
  };
}

/**
 * Number of colours for leaders. Any further leaders share one hatching, so that no colour stands for two
 * nodes.
 */
export const leaderHues = 6;

/** Colour of a leader. `other` if all colours are taken by other leaders. */
export type Hue = number | 'other';

const inOrder = new Intl.Collator('en', { numeric: true });

/** Returns the colour of every leader. A node has the same colour in all strips. */
export function huesOf(strips: readonly Strip[]): ReadonlyMap<string, Hue> {
  const leaders = strips.flatMap(({ spans }) => spans.flatMap(({ leader }) => leader ?? []));
  const names = [...new Set(leaders)].toSorted(inOrder.compare);
  return new Map(names.map((name, index) => [name, index < leaderHues ? index : 'other']));
}

/**
 * Returns the gap since the last leader, if the page has seen the gap but the records do not contain it yet.
 */
function openGap(
  last: Leadership | undefined,
  known: readonly { readonly toMs: number }[],
  leaderless: Leaderless | null,
  toMs: number,
) {
  if (last === undefined || leaderless === null || known.some((gap) => gap.toMs === toMs)) return [];
  return [{ leader: null, term: null, fromMs: Math.max(last.fromMs, leaderless.sinceMs), toMs }];
}

function leadershipOf(record: History['records'][number]): Leadership[] {
  if (record.kind === 'change' || record.readyAt === null || record.node === null) return [];
  return [{ leader: record.node, term: record.term, fromMs: Date.parse(record.readyAt) }];
}

/**
 * Returns a key for the parts of a status whose changes add records to the history. The page reads the
 * history again only when this key changes, not whenever a score changes.
 */
export function historyKey({ leaders, paused, switchover, sites, nodes }: Status): string {
  const drained = nodes.filter(({ state }) => state === 'DRAINING').map(({ node }) => node);
  const slots = leaders.map(({ elected, leader, transition }) => {
    const claim = leader === null ? null : [leader.fencingToken, leader.status];
    return [elected.term, claim, transition?.phase];
  });
  return JSON.stringify([slots, paused, switchover, sites, drained]);
}
