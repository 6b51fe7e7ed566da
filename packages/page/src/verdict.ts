/** The one thing to know at three in the morning: whether the group has a leader. */
import type { Status, Transition } from './schemas.js';
import { isSeveral, type SlotStatus, slotsOf } from './slots.js';

export type Tone =
  /** A node is READY and no transition is in progress. */
  | 'led'
  /** A change of leader is in progress and within its limit. */
  | 'moving'
  /** No node leads, and no transition is in progress within its limit. */
  | 'leaderless';

export interface Verdict {
  readonly tone: Tone;
  readonly headline: string;
  readonly detail: string;
  /** Whether no claim is READY, whatever is in progress. */
  readonly leaderless: boolean;
  /** The clock of the transition in progress. Null if there is none. */
  readonly clock: Clock | null;
}

export interface Clock {
  /** At the time of the picture. */
  readonly elapsedMs: number;
  readonly limitMs: number;
}

/** `elapsedMs`: time since the agent sent this status. */
export function verdictOf(status: Status, elapsedMs: number): Verdict {
  return isSeveral(status) ? ofSeveral(status, elapsedMs) : verdictOfSlot(status, elapsedMs);
}

const worstFirst = ['leaderless', 'moving', 'led'] as const satisfies readonly Tone[];

/** The tone is that of the worst slot. */
function ofSeveral(status: Status, elapsedMs: number): Verdict {
  const each = slotsOf(status).map((own) => ({ slot: own.slot, ...verdictOfSlot(own, elapsedMs) }));
  const led = each.filter(({ leaderless }) => !leaderless).length;
  const worries = each.filter(({ tone }) => tone !== 'led');
  return {
    tone: worstFirst.find((tone) => each.some((own) => own.tone === tone)) ?? 'leaderless',
    headline: `${led} of ${each.length} slots have a leader`,
    detail: worries.map(({ slot, headline, detail }) => `Slot ${slot}: ${headline}. ${detail}`).join(' '),
    leaderless: led < each.length,
    clock: null,
  };
}

/** Returns the verdict on the leader in `status`: that of the group's first slot, or of another slot. */
export function verdictOfSlot(status: Status, elapsedMs: number): Verdict {
  const { leader, transition } = status;
  const leaderless = leader?.status !== 'READY';
  if (transition !== null) return { leaderless, ...underWay(transition, leaderless, elapsedMs) };
  if (leader !== null && !leaderless) {
    return {
      tone: 'led',
      headline: `${leader.node ?? 'An unknown session'} leads`,
      detail: status.elected.reason,
      leaderless,
      clock: null,
    };
  }
  return {
    tone: 'leaderless',
    headline: 'No leader',
    detail: nobodyText(status),
    leaderless,
    clock: null,
  };
}

/** Instant since which the page has known that no node leads. */
export interface Leaderless {
  /** In milliseconds since the epoch, by the ensemble's clock. */
  readonly sinceMs: number;
  /** Whether the page saw a leader just before. Otherwise the group may have had none for longer. */
  readonly exact: boolean;
}

/** Returns what is known after another picture, with `before` the one before it. Null while a node leads. */
export function leaderlessAfter(
  before: { readonly status: Status; readonly leaderless: Leaderless | null } | null,
  { leader, asOf }: Status,
): Leaderless | null {
  if (leader?.status === 'READY') return null;
  if (before !== null) return before.leaderless ?? { sinceMs: Date.parse(asOf), exact: true };
  // A node that takes over has been the only owner of a claim since it claimed.
  return { sinceMs: Date.parse(leader?.status === 'PROGRESS' ? leader.since : asOf), exact: false };
}

/** Instant since which each slot has had no leader. Contains no slot that has one. */
export type LeaderlessSlots = ReadonlyMap<number, Leaderless>;

export function leaderlessSlots(
  before: { readonly status: Status; readonly leaderless: LeaderlessSlots } | null,
  status: Status,
): LeaderlessSlots {
  return new Map(
    slotsOf(status).flatMap((own): [number, Leaderless][] => {
      const since = leaderlessAfter(before === null ? null : slotBefore(before, own), own);
      return since === null ? [] : [[own.slot, since]];
    }),
  );
}

/** Null if the slot is new. */
function slotBefore(
  { status, leaderless }: { readonly status: Status; readonly leaderless: LeaderlessSlots },
  { slot }: SlotStatus,
) {
  const own = slotsOf(status).find((each) => each.slot === slot);
  return own === undefined ? null : { status: own, leaderless: leaderless.get(slot) ?? null };
}

function nobodyText({ paused, elected }: Status): string {
  if (paused === null) return elected.reason;
  return `No other node takes over, because ${paused.by} paused the group: ${paused.reason}`;
}

function underWay(transition: Transition, leaderless: boolean, sinceMs: number): Omit<Verdict, 'leaderless'> {
  const clock = { elapsedMs: transition.elapsedMs + sinceMs, limitMs: transition.limitMs };
  const late = clock.elapsedMs > clock.limitMs;
  const tone = leaderless && late ? 'leaderless' : 'moving';
  const [headline, detail] = words(transition);
  return {
    tone,
    headline,
    detail: late ? `${detail} This step is taking longer than allowed.` : detail,
    clock,
  };
}

function words({ phase, node, to }: Transition): readonly [headline: string, detail: string] {
  const who = node ?? 'An unknown session';
  const next = to ?? 'no node';
  switch (phase) {
    case 'releasing':
      return [
        to === null ? `${who} is releasing leadership` : `${who} is handing over to ${next}`,
        to === null
          ? `${who} is stopping its workload; no node is elected to succeed it.`
          : `${who} is stopping its workload; then ${next} claims leadership.`,
      ];
    case 'claiming':
      return [`${who} is elected`, `No leader: ${who} has not claimed leadership yet.`];
    case 'taking-over':
      return [`${who} is taking over`, `The group has no leader until ${who} is READY.`];
  }
}
