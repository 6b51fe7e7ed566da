/** A change of leader, phase by phase: what is done, what runs and against which limit, and what is ahead. */
import { type Phase, phases, type Status } from './schemas.js';
import { isSeveral, slotsOf } from './slots.js';

/** Observations of the transition in progress. Null while the page has made none. */
export interface Witness {
  readonly term: number;
  /** When it first saw each phase, by the ensemble's clock, in milliseconds since the epoch. */
  readonly seenAtMs: Readonly<Partial<Record<Phase, number>>>;
  /** The node whose release it saw. */
  readonly from: string | null;
}

/** Returns what is known after another picture. */
export function witness(before: Witness | null, { transition, asOf }: Status): Witness | null {
  if (transition === null) return null;
  const { term, phase, node } = transition;
  const { seenAtMs, from } = before?.term === term ? before : { seenAtMs: {}, from: null };
  return {
    term,
    seenAtMs: { [phase]: Date.parse(asOf), ...seenAtMs },
    from: phase === 'releasing' ? node : from,
  };
}

/** By slot, for each slot with a transition in progress. */
export type Witnesses = ReadonlyMap<number, Witness>;

export function witnesses(before: Witnesses, status: Status): Witnesses {
  return new Map(
    slotsOf(status).flatMap((own): [number, Witness][] => {
      const seen = witness(before.get(own.slot) ?? null, own);
      return seen === null ? [] : [[own.slot, seen]];
    }),
  );
}

export interface Step {
  readonly phase: Phase;
  readonly state: 'done' | 'now' | 'ahead';
  readonly label: string;
  /** How long it took or takes, at the time of the picture. Null if the page does not know. */
  readonly elapsedMs: number | null;
  /** Limit of the step that is running. */
  readonly limitMs: number | null;
}

export interface Track {
  /** Null if the group has only one. */
  readonly slot: number | null;
  readonly term: number;
  readonly to: string | null;
  readonly reason: string;
  readonly steps: readonly Step[];
}

/** Returns the track of every slot with a transition in progress. */
export function tracksOf(status: Status, seen: Witnesses): Track[] {
  return slotsOf(status).flatMap((own) => {
    const track = trackOf(own, seen.get(own.slot) ?? null);
    return track === null ? [] : [{ ...track, slot: isSeveral(status) ? own.slot : null }];
  });
}

/** Returns null while no transition is in progress. */
export function trackOf(status: Status, seen: Witness | null): Omit<Track, 'slot'> | null {
  const { transition, elected } = status;
  if (transition === null) return null;
  const at = phases.indexOf(transition.phase);
  const steps = phases.map((phase, index): Step => {
    const state = index < at ? 'done' : index === at ? 'now' : 'ahead';
    const label = labels[phase](phase === 'releasing' ? (seen?.from ?? null) : transition.to);
    if (state === 'now') return { phase, state, label, ...pick(transition) };
    return { phase, state, label, elapsedMs: state === 'done' ? tookMs(seen, index) : null, limitMs: null };
  });
  return { term: transition.term, to: transition.to, reason: elected.reason, steps };
}

const labels: Readonly<Record<Phase, (node: string | null) => string>> = {
  releasing: (node) => (node === null ? 'Old leader releases' : `${node} releases`),
  claiming: (node) => `${node ?? 'Next leader'} claims`,
  'taking-over': (node) => `${node ?? 'Next leader'} takes over`,
};

function pick({ elapsedMs, limitMs }: { elapsedMs: number; limitMs: number }) {
  return { elapsedMs, limitMs };
}

function tookMs(seen: Witness | null, index: number): number | null {
  const [phase, next] = [phases[index], phases[index + 1]];
  const from = phase === undefined ? undefined : seen?.seenAtMs[phase];
  const to = next === undefined ? undefined : seen?.seenAtMs[next];
  return from === undefined || to === undefined ? null : Math.max(0, to - from);
}
