/**
 * Reconstructs from the hooks' own records which node worked, until when, and under which fencing token.
 *
 * A leadership is one node's takeover of one slot under one token. It works from the start of its takeover
 * until the end of its release. If its workload was killed instead, it works until the workload's last beat.
 * Beats come at intervals, so a workload may have lived for up to one interval longer. The next takeover
 * therefore records which workloads were still alive when it began.
 */
import type { HookRecord } from '../records.js';
import { inSlot, type Violation } from './violation.js';

export interface LeadershipSpan {
  readonly node: string;
  readonly slot: number;
  readonly token: string;
  readonly startMs: number;
  /** Instant at which the takeover hook succeeded. Null if the hook did not succeed. */
  takenOverMs: number | null;
  releaseMs: number | null;
  /** Instant of the last record of the takeover hook or the workload. */
  lastWorkMs: number;
  /** Instant of the last record of the release hook. Null if no release hook ran. */
  lastReleaseMs: number | null;
}

/** Returns all leaderships in the order of their starts. */
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

/**
 * Finds pairs of leaderships that worked at the same time and must not. Two leaderships must not share a slot
 * at the same time, and a node must not work in two slots.
 */
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

/** Whether two leaderships must not work at the same time. */
function excludes(one: Named, other: Named): boolean {
  return nameOf(one) !== nameOf(other) && (one.slot === other.slot || one.node === other.node);
}

function ruleOf(one: Named, other: Named): string {
  return one.slot === other.slot ? 'no two at once' : 'one slot a node';
}

/**
 * Checks that the token of each takeover is greater than all earlier tokens of its slot and is used in no
 * other slot. The tokens of different slots may be in any order.
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

/** Returns the time from the end of each leadership to the start of the next leadership of the same slot. */
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
 * Returns the end of a leadership as it was when another leadership started. Ignores a release that began
 * after that start, because such a release cleans up after a killed workload.
 */
function endBefore({ lastWorkMs, releaseMs, lastReleaseMs }: LeadershipSpan, startMs: number): number {
  if (releaseMs === null || lastReleaseMs === null || releaseMs > startMs) return lastWorkMs;
  return Math.max(lastWorkMs, lastReleaseMs);
}

/**
 * States of processes that do nothing: stopped, traced or dead. If a stopped workload continues later, its
 * beats will show that.
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
