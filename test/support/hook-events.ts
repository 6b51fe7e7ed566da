/**
 * The events that hooks record, and the search for forbidden overlaps between them. Events are in the order
 * of the file, which is the order in which they happened, independent of any clock. A leadership is one
 * node's takeover of one slot under one fencing token. It is active from the start of its takeover until its
 * release has ended. If it was killed instead, it is active until the last beat of its workload.
 */
import { z } from 'zod';

export const hookPhases = ['prepare', 'takeover', 'release', 'fence', 'run'] as const;

export const hookEventSchema = z.strictObject({
  node: z.string(),
  /** Slot of the leadership. It is 1 if the group has one leader. */
  slot: z.int(),
  phase: z.enum(hookPhases),
  /** `killed` means that a fence hook killed this node's workload. */
  event: z.enum(['started', 'ended', 'beat', 'killed']),
  term: z.number(),
  token: z.string(),
  /** Seconds since the epoch, for human readers. */
  at: z.number(),
  /** Milliseconds on CLOCK_MONOTONIC, which all processes of the machine share. */
  monotonicMs: z.number(),
  /** The exit code of an `ended` event. */
  exitCode: z.number().nullable(),
  /** The workloads that were alive when a takeover started, with their process states in /proc. */
  alive: z.array(z.strictObject({ node: z.string(), slot: z.int(), token: z.string(), state: z.string() })),
});

export type HookEvent = z.output<typeof hookEventSchema>;

/**
 * States of processes that do nothing: stopped, traced, dead. If a stopped process resumes, its next beat
 * shows it.
 */
const idleStates = new Set(['T', 't', 'Z', 'X']);

/** Returns one line per violation. The list is empty if there is none. */
export function findProblems(events: readonly HookEvent[]): string[] {
  return [...overlaps(events), ...tokenProblems(events)];
}

function overlaps(events: readonly HookEvent[]): string[] {
  const begun = new Set<string>();
  const releasing = new Set<string>();
  const problems: string[] = [];
  for (const [index, event] of events.entries()) {
    if (beginsLeadership(event)) {
      const later = events.slice(index + 1);
      problems.push(...stillAlive(event), ...stillActive(event, later, { begun, releasing }));
      begun.add(nameOf(event));
    }
    if (event.phase === 'release') releasing.add(nameOf(event));
  }
  return problems;
}

function stillAlive(start: HookEvent): string[] {
  const others = start.alive.filter((other) => excludes(other, start) && !idleStates.has(other.state));
  const names = new Set(others.map(nameOf));
  return [...names].map((name) => `${nameOf(start)} took over at ${start.at} while ${name} was alive`);
}

interface Earlier {
  /** Leaderships that had begun before the takeover. */
  readonly begun: ReadonlySet<string>;
  /** Leaderships whose release had begun before the takeover. */
  readonly releasing: ReadonlySet<string>;
}

/**
 * Returns the violations by leaderships that were still active when `start` happened. A release counts only
 * if it began before `start`. A release that begins later tidies up after a workload that was killed. If that
 * workload had not been killed, its own beats would show it.
 */
function stillActive(start: HookEvent, later: readonly HookEvent[], earlier: Earlier): string[] {
  const last = new Map<string, HookEvent>();
  for (const event of later) {
    if (!excludes(event, start)) continue;
    const name = nameOf(event);
    const works = (event.phase === 'takeover' || event.phase === 'run') && earlier.begun.has(name);
    if (works || (event.phase === 'release' && earlier.releasing.has(name))) last.set(name, event);
  }
  return [...last].map(([name, { at, phase, event }]) => {
    return `${nameOf(start)} took over at ${start.at} while ${name} was active, until ${phase} ${event} at ${at}`;
  });
}

function tokenProblems(events: readonly HookEvent[]): string[] {
  const problems: string[] = [];
  const newestOf = new Map<number, HookEvent>();
  for (const start of events.filter(beginsLeadership)) {
    const newest = newestOf.get(start.slot);
    if (!/^\d+$/.test(start.token))
      problems.push(`${start.node} took over at ${start.at} without a fencing token`);
    else if (newest !== undefined && BigInt(start.token) <= BigInt(newest.token)) {
      problems.push(
        `${nameOf(start)} took over at ${start.at}, after ${nameOf(newest)}: its token is not greater`,
      );
    } else newestOf.set(start.slot, start);
  }
  return problems;
}

function beginsLeadership({ phase, event }: HookEvent): boolean {
  return event === 'started' && (phase === 'takeover' || phase === 'run');
}

/**
 * Whether two leaderships must not be active at the same time, because they are in the same slot or on the
 * same node.
 */
function excludes(one: LeadershipSpan, other: LeadershipSpan): boolean {
  const isSame = one.node === other.node && one.token === other.token;
  return !isSame && (one.slot === other.slot || one.node === other.node);
}

type LeadershipSpan = Pick<HookEvent, 'node' | 'slot' | 'token'>;

function nameOf({ node, token }: LeadershipSpan): string {
  return `${node} (token ${token})`;
}
