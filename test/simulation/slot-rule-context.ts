/** Judges one slot of a group by the rules for a single leader, as if the slot were the only one. */
import { type GroupPaths, pathsOfSlot } from '../../src/model/paths.js';
import type { Invariant, Violate } from './judge.js';
import { inSlot, type Picture, type SlotSeen } from './ledger.js';
import type { Node } from './node.js';
import type { RuleContext, Step } from './rules.js';

export class SlotRuleContext implements RuleContext {
  readonly slot: number;
  readonly paths: GroupPaths;
  readonly violate: Violate;
  readonly #context: RuleContext;

  constructor(context: RuleContext, slot: number) {
    this.#context = context;
    this.slot = slot;
    this.paths = pathsOfSlot(context.paths, slot);
    this.violate = (rule, what) => context.violate(rule, this.#named(what));
  }

  get world() {
    return this.#context.world;
  }

  get setup() {
    return this.#context.setup;
  }

  get nodes() {
    return this.#context.nodes;
  }

  get promptMs() {
    return this.#context.promptMs;
  }

  get answerMs() {
    return this.#context.answerMs;
  }

  get isCalm() {
    return this.#context.isCalm;
  }

  get isUnderQuota() {
    return this.#context.isUnderQuota;
  }

  get wasCalm() {
    return this.#context.wasCalm;
  }

  isInTouch(node: Node): boolean {
    return this.#context.isInTouch(node);
  }

  inTouchSinceMs(session: bigint): number {
    return this.#context.inTouchSinceMs(session);
  }

  electorForMs(): number {
    return this.#context.electorForMs();
  }

  wall() {
    return this.#context.wall();
  }

  picture(): Picture {
    return inSlot(this.#context.picture(), this.slot);
  }

  judged(step: Step, judge: (step: Step, complain: Violate) => void): void {
    this.#context.judged(step, (view, complain) =>
      judge(view, (rule, what) => complain(rule, this.#named(what))),
    );
  }

  soon(withinMs: number, rule: Invariant, isWrong: () => string | null): void {
    this.#context.soon(withinMs, rule, () => this.#name(isWrong()));
  }

  unlessDisturbed(withinMs: number, rule: Invariant, isWrong: () => string | null): void {
    this.#context.unlessDisturbed(withinMs, rule, () => this.#name(isWrong()));
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
