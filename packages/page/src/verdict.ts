/** The one thing to know at three in the morning: is the group led. */
import type { Status, Transition } from './schemas.js';
import { isSeveral, type SlotStatus, slotsOf } from './slots.js';

export type Tone =
  /** Somebody is READY and nothing moves. */
  | 'led'
  /** A change of leader is under way and within its limit. */
  | 'moving'
  /** Nobody leads, and nobody is on the way in time. */
  | 'leaderless';

export interface Verdict {
  readonly tone: Tone;
  readonly headline: string;
  readonly detail: string;
  /** No claim is READY, whatever is under way. */
  readonly leaderless: boolean;
  /** Of what is under way; null where nothing is. */
  readonly clock: Clock | null;
}

export interface Clock {
  /** At the moment of the picture. */
  readonly elapsedMs: number;
  readonly limitMs: number;
}

/** `elapsedMs`: how long it has been since the agent told this. */
export function verdictOf(status: Status, elapsedMs: number): Verdict {
  return isSeveral(status) ? ofSeveral(status, elapsedMs) : verdictOfSlot(status, elapsedMs);
}

const worstFirst = ['leaderless', 'moving', 'led'] as const satisfies readonly Tone[];

/** As bad as the worst of the slots. */
function ofSeveral(status: Status, elapsedMs: number): Verdict {
  const each = slotsOf(status).map((own) => ({ slot: own.slot, ...verdictOfSlot(own, elapsedMs) }));
  const led = each.filter(({ leaderless }) => !leaderless).length;
  const worries = each.filter(({ tone }) => tone !== 'led');
  return {
    tone: worstFirst.find((tone) => each.some((own) => own.tone === tone)) ?? 'leaderless',
    headline: `${led} of ${each.length} lead`,
    detail: worries.map(({ slot, headline, detail }) => `Slot ${slot}: ${headline}. ${detail}`).join(' '),
    leaderless: led < each.length,
    clock: null,
  };
}

/** Of what `status` says of a leader, which is the group's first slot's, or that of another one. */
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

/** Since when the page knows that nobody leads. */
export interface Leaderless {
  /** Milliseconds since the epoch, the ensemble's clock. */
  readonly sinceMs: number;
  /** It saw a leader just before; otherwise it may be for longer. */
  readonly exact: boolean;
}

/** What is known after another picture: `before` it; null while somebody leads. */
export function leaderlessAfter(
  before: { readonly status: Status; readonly leaderless: Leaderless | null } | null,
  { leader, asOf }: Status,
): Leaderless | null {
  if (leader?.status === 'READY') return null;
  if (before !== null) return before.leaderless ?? { sinceMs: Date.parse(asOf), exact: true };
  // Who takes over is the only owner of a claim since it claimed.
  return { sinceMs: Date.parse(leader?.status === 'PROGRESS' ? leader.since : asOf), exact: false };
}

/** Since when each slot has had nobody; one that is led is not among them. */
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

/** Null: the slot is a new one. */
function slotBefore(
  { status, leaderless }: { readonly status: Status; readonly leaderless: LeaderlessSlots },
  { slot }: SlotStatus,
) {
  const own = slotsOf(status).find((each) => each.slot === slot);
  return own === undefined ? null : { status: own, leaderless: leaderless.get(slot) ?? null };
}

function nobodyText({ paused, elected }: Status): string {
  if (paused === null) return elected.reason;
  return `The group is paused by ${paused.by}, so no other node takes over: ${paused.reason}`;
}

function underWay(transition: Transition, leaderless: boolean, sinceMs: number): Omit<Verdict, 'leaderless'> {
  const clock = { elapsedMs: transition.elapsedMs + sinceMs, limitMs: transition.limitMs };
  const late = clock.elapsedMs > clock.limitMs;
  const tone = leaderless && late ? 'leaderless' : 'moving';
  const [headline, detail] = words(transition);
  return { tone, headline, detail: late ? `${detail} The step takes longer than allowed.` : detail, clock };
}

function words({ phase, node, to }: Transition): readonly [headline: string, detail: string] {
  const who = node ?? 'An unknown session';
  const next = to ?? 'no node';
  switch (phase) {
    case 'releasing':
      return [
        `${who} hands over to ${next}`,
        to === null
          ? `The service of ${who} stops; no node is elected to follow ${who}.`
          : `The service of ${who} stops; then ${next} claims.`,
      ];
    case 'claiming':
      return [`${who} is elected`, `No leader: ${who} has not claimed leadership yet.`];
    case 'taking-over':
      return [`${who} is taking over`, `The group has no leader until ${who} is READY.`];
  }
}
