/** Determines what an operator needs to know first: whether the group has a leader. */
import type { Status, Transition } from './schemas.js';
import { isSeveral, type SlotStatus, slotsOf } from './slots.js';

export type Tone =
  /** A node is READY, and no transition is in progress. */
  | 'led'
  /** A change of leader is in progress. If no node leads, the change is still within its limit. */
  | 'moving'
  /** No node leads. Either no transition is in progress, or the transition has exceeded its limit. */
  | 'leaderless';

export interface Verdict {
  readonly tone: Tone;
  readonly headline: string;
  readonly detail: string;
  /** True if no claim is READY, whether or not a transition is in progress. */
  readonly leaderless: boolean;
  /** The clock of the transition in progress. Null if there is none. */
  readonly clock: Clock | null;
}

export interface Clock {
  /** Time since the start of the phase. */
  readonly elapsedMs: number;
  readonly limitMs: number;
}

/** Returns the verdict on the group. `elapsedMs` is the time since the agent sent this status. */
export function verdictOf(status: Status, elapsedMs: number): Verdict {
  return isSeveral(status) ? ofSeveral(status, elapsedMs) : verdictOfSlot(status, elapsedMs);
}

const worstFirst = ['leaderless', 'moving', 'led'] as const satisfies readonly Tone[];

/** Returns the verdict on a group with several slots. It has the tone of the slot in the worst state. */
function ofSeveral(status: Status, elapsedMs: number): Verdict {
  const each = slotsOf(status).map((own) => ({ slot: own.slot, ...verdictOfSlot(own, elapsedMs) }));
  const led = each.filter(({ leaderless }) => !leaderless).length;
  const unsettled = each.filter(({ tone }) => tone !== 'led');
  return {
    tone: worstFirst.find((tone) => each.some((own) => own.tone === tone)) ?? 'leaderless',
    headline: `${led} of ${each.length} slots have a leader`,
    detail: unsettled.map(({ slot, headline, detail }) => `Slot ${slot}: ${headline}. ${detail}`).join(' '),
    leaderless: led < each.length,
    clock: null,
  };
}

/** Returns the verdict on the leader in `status`, which may be the status of a single slot. */
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

/** A period without a leader, as the page has observed it. */
export interface Leaderless {
  /** Start of the period, in milliseconds since the epoch, on the ensemble's clock. */
  readonly sinceMs: number;
  /**
   * Whether the page saw a leader immediately before the period. If it did not, the group may have had no
   * leader for longer.
   */
  readonly exact: boolean;
}

/**
 * Returns the current period without a leader, updated with a new status. `before` contains the previous
 * status, and the period that was known then. Returns null if a node leads.
 */
export function leaderlessAfter(
  before: { readonly status: Status; readonly leaderless: Leaderless | null } | null,
  { leader, asOf }: Status,
): Leaderless | null {
  if (leader?.status === 'READY') return null;
  if (before !== null) return before.leaderless ?? { sinceMs: Date.parse(asOf), exact: true };
  // No node has led since the candidate claimed leadership, because only one claim can exist.
  return { sinceMs: Date.parse(leader?.status === 'PROGRESS' ? leader.since : asOf), exact: false };
}

/** The current period without a leader, for each slot. Slots that have a leader are not included. */
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

/** Returns the slot's part of the previous data. Returns null if the slot is new. */
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
