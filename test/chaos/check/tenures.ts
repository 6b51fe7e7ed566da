/**
 * What the hooks' own records tell: who was at work and until when, under which fencing token.
 *
 * A tenure is one node's takeover under one token. It is at work from its takeover's start until its release has
 * ended, or, when it was killed instead, until the last sign of life of its workload. A workload beats every now and
 * then, so it may have lived for one interval longer than its last beat tells; what still lived when the next takeover
 * began, that takeover has seen by itself.
 */
import type { HookRecord } from '../records.js';
import type { Violation } from './violation.js';

export interface Tenure {
  readonly node: string;
  readonly token: string;
  readonly startMs: number;
  /** When the takeover hook succeeded; null when it did not. */
  takenOverMs: number | null;
  releaseMs: number | null;
  /** Of takeover and workload. */
  lastWorkMs: number;
  /** Of the release hook; null where none ran. */
  lastReleaseMs: number | null;
}

/** By their starts. */
export function tenuresOf(hooks: readonly HookRecord[]): Tenure[] {
  const tenures = new Map<string, Tenure>();
  for (const record of inTime(hooks)) {
    const { node, token, phase, event, monotonicMs: atMs } = record;
    const key = nameOf(record);
    if (isTakeoverStart(record) && !tenures.has(key)) {
      const fresh = { takenOverMs: null, releaseMs: null, lastWorkMs: atMs, lastReleaseMs: null };
      tenures.set(key, { node, token, startMs: atMs, ...fresh });
    }
    const tenure = tenures.get(key);
    if (tenure === undefined) continue;
    if (phase === 'takeover') tenure.lastWorkMs = atMs;
    if (phase === 'takeover' && event === 'ended' && record.exitCode === 0) tenure.takenOverMs = atMs;
    if (phase === 'release') {
      tenure.releaseMs ??= atMs;
      tenure.lastReleaseMs = atMs;
    }
  }
  return [...tenures.values()];
}

/** Two at work at once. */
export function overlaps(hooks: readonly HookRecord[], tenures: readonly Tenure[]): Violation[] {
  const rule = 'no two at once';
  const seen = inTime(hooks)
    .filter(isTakeoverStart)
    .flatMap((start) => {
      const others = start.alive.filter((other) => nameOf(other) !== nameOf(start) && !idle.has(other.state));
      const names = new Set(others.map(nameOf));
      return [...names].map((name) => {
        const what = `${nameOf(start)} began to take over and saw ${name} alive`;
        return { rule, what, atMs: start.monotonicMs };
      });
    });
  const recorded = tenures.flatMap((tenure) => {
    return tenures.flatMap((earlier) => {
      if (earlier === tenure || earlier.startMs > tenure.startMs) return [];
      const untilMs = endBefore(earlier, tenure.startMs);
      if (untilMs <= tenure.startMs) return [];
      const lengthMs = (untilMs - tenure.startMs).toFixed(1);
      const what = `${nameOf(tenure)} began to take over ${lengthMs} ms before ${nameOf(earlier)} had ended`;
      return [{ rule, what, atMs: tenure.startMs }];
    });
  });
  return [...seen, ...recorded];
}

/** Each takeover has a token, greater than that of every one before. */
export function tokenProblems(hooks: readonly HookRecord[]): Violation[] {
  const rule = 'tokens grow';
  const found: Violation[] = [];
  let newest: HookRecord | undefined;
  for (const start of inTime(hooks).filter(isTakeoverStart)) {
    const { monotonicMs: atMs, token } = start;
    if (!/^\d+$/.test(token)) found.push({ rule, what: `${start.node} took over without a token`, atMs });
    else if (newest !== undefined && BigInt(token) <= BigInt(newest.token))
      found.push({ rule, what: `${nameOf(start)} took over after ${nameOf(newest)}`, atMs });
    else newest = start;
  }
  return found;
}

export interface Margin {
  readonly from: Pick<Tenure, 'node' | 'token'>;
  readonly to: Pick<Tenure, 'node' | 'token'>;
  readonly atMs: number;
  readonly marginMs: number;
}

/** From each tenure's end to the next one's start. */
export function margins(tenures: readonly Tenure[]): Margin[] {
  return tenures.slice(1).map((tenure, index) => {
    const before = tenures.slice(0, index + 1);
    const ends = before.map((earlier) => ({ earlier, endMs: endBefore(earlier, tenure.startMs) }));
    const last = ends.reduce((one, other) => (other.endMs > one.endMs ? other : one));
    const marginMs = tenure.startMs - last.endMs;
    return { from: last.earlier, to: tenure, atMs: tenure.startMs, marginMs };
  });
}

/**
 * When a tenure ended, as seen from another's start. A release that began only after that is not part of it: it tidies
 * up after a workload that was killed.
 */
function endBefore({ lastWorkMs, releaseMs, lastReleaseMs }: Tenure, startMs: number): number {
  if (releaseMs === null || lastReleaseMs === null || releaseMs > startMs) return lastWorkMs;
  return Math.max(lastWorkMs, lastReleaseMs);
}

/** States of processes that do nothing: stopped, traced, dead. A stopped one that goes on will show by a beat. */
const idle = new Set(['T', 't', 'Z', 'X']);

function inTime(hooks: readonly HookRecord[]): HookRecord[] {
  return hooks.toSorted((one, other) => one.monotonicMs - other.monotonicMs);
}

function isTakeoverStart({ phase, event }: HookRecord): boolean {
  return phase === 'takeover' && event === 'started';
}

export function nameOf({ node, token }: Pick<HookRecord, 'node' | 'token'>): string {
  return `${node} (token ${token})`;
}
