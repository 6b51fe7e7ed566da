/**
 * Prepares a change of leader as steps: those that are done, the current one with its limit, and those that
 * are still to come.
 */
import { type Phase, phases, type Status } from './schemas.js';
import { isSeveral, slotsOf } from './slots.js';

/** The page's observations of the transition in progress. */
export interface ObservedTransition {
  readonly term: number;
  /**
   * Instant at which the page first saw each phase, on the ensemble's clock, in milliseconds since the epoch.
   */
  readonly seenAtMs: Readonly<Partial<Record<Phase, number>>>;
  /** The node that the page saw releasing leadership. Null if the page saw no release. */
  readonly from: string | null;
}

/** Returns the observations, updated with a new status. Returns null if the status contains no transition. */
export function observe(
  before: ObservedTransition | null,
  { transition, asOf }: Status,
): ObservedTransition | null {
  if (transition === null) return null;
  const { term, phase, node } = transition;
  const { seenAtMs, from } = before?.term === term ? before : { seenAtMs: {}, from: null };
  return {
    term,
    seenAtMs: { [phase]: Date.parse(asOf), ...seenAtMs },
    from: phase === 'releasing' ? node : from,
  };
}

/** Observations, keyed by slot. Only slots with a transition in progress have an entry. */
export type ObservedTransitions = ReadonlyMap<number, ObservedTransition>;

export function observeAll(before: ObservedTransitions, status: Status): ObservedTransitions {
  return new Map(
    slotsOf(status).flatMap((own): [number, ObservedTransition][] => {
      const observed = observe(before.get(own.slot) ?? null, own);
      return observed === null ? [] : [[own.slot, observed]];
    }),
  );
}

export interface Step {
  readonly phase: Phase;
  readonly state: 'done' | 'now' | 'ahead';
  readonly label: string;
  /**
   * Duration of the step. For the current step, this is the time from its start until the status was sent.
   * Null if the page does not know the duration.
   */
  readonly elapsedMs: number | null;
  /** Time limit of the current step. Null for any other step. */
  readonly limitMs: number | null;
}

export interface TransitionSteps {
  /** The slot of the transition. Null if the group has only one slot. */
  readonly slot: number | null;
  readonly term: number;
  readonly to: string | null;
  readonly reason: string;
  readonly steps: readonly Step[];
}

/** Returns the steps of every transition in progress, at most one per slot. */
export function stepsOfSlots(status: Status, observed: ObservedTransitions): TransitionSteps[] {
  return slotsOf(status).flatMap((own) => {
    const steps = stepsOf(own, observed.get(own.slot) ?? null);
    return steps === null ? [] : [{ ...steps, slot: isSeveral(status) ? own.slot : null }];
  });
}

/** Returns the steps of the transition. Returns null if no transition is in progress. */
export function stepsOf(
  status: Status,
  observed: ObservedTransition | null,
): Omit<TransitionSteps, 'slot'> | null {
  const { transition, elected } = status;
  if (transition === null) return null;
  const at = phases.indexOf(transition.phase);
  const steps = phases.map((phase, index): Step => {
    const state = index < at ? 'done' : index === at ? 'now' : 'ahead';
    const label = labels[phase](phase === 'releasing' ? (observed?.from ?? null) : transition.to);
    if (state === 'now') return { phase, state, label, ...pick(transition) };
    return {
      phase,
      state,
      label,
      elapsedMs: state === 'done' ? tookMs(observed, index) : null,
      limitMs: null,
    };
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

function tookMs(observed: ObservedTransition | null, index: number): number | null {
  const [phase, next] = [phases[index], phases[index + 1]];
  const from = phase === undefined ? undefined : observed?.seenAtMs[phase];
  const to = next === undefined ? undefined : observed?.seenAtMs[next];
  return from === undefined || to === undefined ? null : Math.max(0, to - from);
}
