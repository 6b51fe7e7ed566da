/**
 * Reconstructs from the hooks' own records which node worked, until when, and under which fencing token.
 *
 * A leadership is one node's takeover of one slot under one token. It works from its takeover's start until
 * its release has ended. If it was killed instead, it works until its workload's last sign of life. A
 * workload beats at intervals, so it may have lived for one interval longer than its last beat shows. The
 * next takeover itself records what was still alive when it began.
 */
import type { HookRecord } from '../records.js';
import { inSlot, type Violation } from './violation.js';

export interface LeadershipSpan {
  readonly node: string;
  readonly slot: number;
  readonly token: string;
  readonly startMs: number;
  /** When the takeover hook succeeded. Null if it did not. */
  takenOverMs: number | null;
  releaseMs: number | null;
  /** Last record of the takeover or the workload. */
  lastWorkMs: number;
  /** Last record of the release hook. Null if none ran. */
  lastReleaseMs: number | null;
}

/** In order of their starts. */
export function leadershipSpansOf(hooks: readonly HookRecord[]): LeadershipSpan[] {
  const leaderships = new Map<string, LeadershipSpan>();
  for (const record of inTime(hooks)) {
    const { node, slot, token, phase, event, monotonicMs: atMs } = record;
    const key = nameOf(record);
    if (isTakeoverStart(record) && !leaderships.has(key)) {
      const fresh = { takenOverMs: null, releaseMs: null, lastWorkMs: atMs, lastReleaseMs: null };
      leaderships.set(key, { node, slot, token, startMs: atMs, ...fresh });
    }
    const leadership = leaderships.get(key);
    if (leadership === undefined) continue;
    if (phase === 'takeover') leadership.lastWorkMs = atMs;
    if (phase === 'takeover' && event === 'ended' && record.exitCode === 0) leadership.takenOverMs = atMs;
    if (phase === 'release') {
      leadership.releaseMs ??= atMs;
      leadership.lastReleaseMs = atMs;
    }
  }
  return [...leaderships.values()];
}

/** Finds two leaderships that worked simultaneously in one slot, or one node that worked in two slots. */
export function overlaps(hooks: readonly HookRecord[], leaderships: readonly LeadershipSpan[]): Violation[] {
  const seen = inTime(hooks)
    .filter(isTakeoverStart)
    .flatMap((start) => {
      const others = start.alive.filter((other) => excludes(other, start) && !idle.has(other.state));
      const seen = new Map(others.map((other) => [nameOf(other), other]));
      return [...seen].map(([name, other]) => {
        const what = `${nameOf(start)} began to take over and saw ${name} alive`;
        return { rule: ruleOf(other, start), what, atMs: start.monotonicMs };
      });
    });
  const recorded = leaderships.flatMap((leadership) => {
    return leaderships.flatMap((earlier) => {
      if (!excludes(earlier, leadership) || earlier.startMs > leadership.startMs) return [];
      const untilMs = endBefore(earlier, leadership.startMs);
      if (untilMs <= leadership.startMs) return [];
      const lengthMs = (untilMs - leadership.startMs).toFixed(1);
      const what = `${nameOf(leadership)} began to take over ${lengthMs} ms before ${nameOf(earlier)} had ended`;
      return [{ rule: ruleOf(earlier, leadership), what, atMs: leadership.startMs }];
    });
  });
  return [...seen, ...recorded];
}

type Named = Pick<HookRecord, 'node' | 'slot' | 'token'>;

/** Whether the two must not work simultaneously. */
function excludes(one: Named, other: Named): boolean {
  return nameOf(one) !== nameOf(other) && (one.slot === other.slot || one.node === other.node);
}

function ruleOf(one: Named, other: Named): string {
  return one.slot === other.slot ? 'no two at once' : 'one slot a node';
}

/**
 * Checks that each takeover's token is greater than all earlier ones of its slot and is used in no other
 * slot. The order of takeovers in different slots does not matter.
 */
export function tokenProblems(hooks: readonly HookRecord[]): Violation[] {
  const rule = 'tokens grow';
  const found: Violation[] = [];
  const newestOf = new Map<number, HookRecord>();
  const usedBy = new Map<string, HookRecord>();
  for (const start of inTime(hooks).filter(isTakeoverStart)) {
    const { monotonicMs: atMs, slot, token } = start;
    const newest = newestOf.get(slot);
    const user = usedBy.get(token) ?? start;
    usedBy.set(token, user);
    if (user.slot !== slot)
      found.push({ rule, what: `${nameOf(start)} took over under the token of ${nameOf(user)}`, atMs });
    if (!/^\d+$/.test(token)) found.push({ rule, what: `${start.node} took over without a token`, atMs });
    else if (newest !== undefined && BigInt(token) <= BigInt(newest.token))
      found.push({ rule, what: `${nameOf(start)} took over after ${nameOf(newest)}`, atMs });
    else newestOf.set(slot, start);
  }
  return found;
}

export interface Margin {
  readonly from: Named;
  readonly to: Named;
  readonly atMs: number;
  readonly marginMs: number;
}

/** Returns, for each slot, the time from the end of each leadership to the start of the next. */
export function margins(leaderships: readonly LeadershipSpan[]): Margin[] {
  const slots = new Set(leaderships.map(({ slot }) => slot));
  return [...slots].flatMap((slot) =>
    marginsOf(leaderships.filter((leadership) => leadership.slot === slot)),
  );
}

function marginsOf(leaderships: readonly LeadershipSpan[]): Margin[] {
  return leaderships.slice(1).map((leadership, index) => {
    const before = leaderships.slice(0, index + 1);
    const ends = before.map((earlier) => ({ earlier, endMs: endBefore(earlier, leadership.startMs) }));
    const last = ends.reduce((one, other) => (other.endMs > one.endMs ? other : one));
    const marginMs = leadership.startMs - last.endMs;
    return { from: last.earlier, to: leadership, atMs: leadership.startMs, marginMs };
  });
}

/**
 * Returns when a leadership ended, as seen at another's start. Ignores a release that began later: it cleans
 * up after a workload that was killed.
 */
function endBefore({ lastWorkMs, releaseMs, lastReleaseMs }: LeadershipSpan, startMs: number): number {
  if (releaseMs === null || lastReleaseMs === null || releaseMs > startMs) return lastWorkMs;
  return Math.max(lastWorkMs, lastReleaseMs);
}

/**
 * States of processes that do nothing: stopped, traced, dead. If a stopped workload continues, its beats show
 * that.
 */
const idle = new Set(['T', 't', 'Z', 'X']);

function inTime(hooks: readonly HookRecord[]): HookRecord[] {
  return hooks.toSorted((one, other) => one.monotonicMs - other.monotonicMs);
}

function isTakeoverStart({ phase, event }: HookRecord): boolean {
  return phase === 'takeover' && event === 'started';
}

export function nameOf({ node, slot, token }: Named): string {
  return `${node}${inSlot(slot)} (token ${token})`;
}
