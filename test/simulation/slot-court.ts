/** Judges one slot of a group by the rules for a single leader, as if the slot were the only one. */
import { type GroupPaths, pathsOfSlot } from '../../src/model/paths.js';
import type { Invariant, Violate } from './judge.js';
import { inSlot, type Picture, type SlotSeen } from './ledger.js';
import type { Node } from './node.js';
import type { Court, Step } from './rules.js';

export class SlotCourt implements Court {
  readonly slot: number;
  readonly paths: GroupPaths;
  readonly violate: Violate;
  readonly #court: Court;

  constructor(court: Court, slot: number) {
    this.#court = court;
    this.slot = slot;
    this.paths = pathsOfSlot(court.paths, slot);
    this.violate = (rule, what) => court.violate(rule, this.#named(what));
  }

  get world() {
    return this.#court.world;
  }

  get setup() {
    return this.#court.setup;
  }

  get nodes() {
    return this.#court.nodes;
  }

  get promptMs() {
    return this.#court.promptMs;
  }

  get answerMs() {
    return this.#court.answerMs;
  }

  get isCalm() {
    return this.#court.isCalm;
  }

  get isUnderQuota() {
    return this.#court.isUnderQuota;
  }

  get wasCalm() {
    return this.#court.wasCalm;
  }

  isInTouch(node: Node): boolean {
    return this.#court.isInTouch(node);
  }

  inTouchSinceMs(session: bigint): number {
    return this.#court.inTouchSinceMs(session);
  }

  electorForMs(): number {
    return this.#court.electorForMs();
  }

  wall() {
    return this.#court.wall();
  }

  picture(): Picture {
    return inSlot(this.#court.picture(), this.slot);
  }

  judged(step: Step, judge: (step: Step, complain: Violate) => void): void {
    this.#court.judged(step, (view, complain) =>
      judge(view, (rule, what) => complain(rule, this.#named(what))),
    );
  }

  soon(withinMs: number, rule: Invariant, isWrong: () => string | null): void {
    this.#court.soon(withinMs, rule, () => this.#name(isWrong()));
  }

  unlessDisturbed(withinMs: number, rule: Invariant, isWrong: () => string | null): void {
    this.#court.unlessDisturbed(withinMs, rule, () => this.#name(isWrong()));
  }

  #name(what: string | null): string | null {
    return what === null ? null : this.#named(what);
  }

  #named(what: string): string {
    return `slot ${this.slot}: ${what}`;
  }
}

/** Returns a step as seen by one slot. */
export function stepIn(step: Step, slot: number): Step {
  const [was, is] = [inSlot(step.was, slot), inSlot(step.is, slot)];
  const isDecision = was.elected !== is.elected;
  const seen = step.views.flatMap((view): Step[] => {
    const of = { ...view, was: inSlot(view.was, slot), is: inSlot(view.is, slot), views: [] };
    return isDecision ? besides(of) : [of];
  });
  return { ...step, was, is, views: seen };
}

/**
 * Returns the same step for each subset of the other slots that may have been decided before this slot. A
 * transaction may contain the decisions of several slots, which are made one after the other.
 */
function besides(step: Step): Step[] {
  const steps = [step];
  for (const now of step.is.others) {
    const before = step.was.others.find(({ slot }) => slot === now.slot);
    if (before === undefined || before.elected === now.elected) continue;
    steps.push(...steps.map((one) => ({ ...one, was: withOther(one.was, now) })));
  }
  return steps;
}

function withOther(picture: Picture, { slot, elected }: SlotSeen): Picture {
  const others = picture.others.map((state) => (state.slot === slot ? { ...state, elected } : state));
  return { ...picture, others };
}
