/**
 * A user-defined constraint in the form that the rest of Petrel uses. One request to its thread covers all
 * nodes.
 */
import { type Answer, type Answers, answerTo, type ConstraintQuestion } from '../../strategies/questions.js';
import type { RegisteredConstraint, Rules } from '../../strategies/registry.js';
import type { ConstraintContext, Registered, RemoteConstraint } from '../core/constraint.js';
import { minuteOfDay } from '../core/ensemble-clock.js';
import { RuleFault } from '../core/ranking.js';
import { type GroupConfig, sitePriority } from '../model/group-config.js';
import type { ConstraintInput, Finding } from '../model/own-constraint.js';
import { type ConstraintIntroduction, constraintSchema } from './messages.js';
import { OwnRule } from './own-rule.js';

export class OwnConstraint implements RegisteredConstraint {
  readonly #rule: OwnRule<ConstraintIntroduction>;

  private constructor(rule: OwnRule<ConstraintIntroduction>) {
    this.#rule = rule;
  }

  /**
   * Loads the constraint from the ES module at `url`. Throws PetrelError INVALID if the module does not
   * contain a constraint.
   */
  static async load(url: string): Promise<OwnConstraint> {
    const module = { url, kind: 'constraint', introduction: constraintSchema } as const;
    return new OwnConstraint(await OwnRule.load(module, 'constraints'));
  }

  get name(): string {
    return this.#rule.introduction.name;
  }

  get version(): string {
    return this.#rule.version;
  }

  prepare({ answers }: Rules): RemoteConstraint {
    const { description, ends, canBeForced, minutes } = this.#rule.introduction;
    return {
      ...{ kind: this.name, description, ends, canBeForced, minutes },
      checkAll: (nodes, context) => this.#findings(inputOf(nodes, context), answers),
    };
  }

  async ask({ input }: ConstraintQuestion): Promise<Answer> {
    return await this.#rule.ask(input);
  }

  async close(): Promise<void> {
    await this.#rule.close();
  }

  #findings(input: ConstraintInput, answers: Answers | undefined): ReadonlyMap<string, Finding> {
    const answer = answerTo({ constraint: this.name, input }, answers);
    if ('findings' in answer) return new Map(answer.findings);
    const why = 'failure' in answer ? answer.failure : 'the constraint returned a result for another request';
    throw new RuleFault(`constraint ${this.name} failed: ${why}`);
  }
}

function inputOf(
  nodes: readonly Registered[],
  { config, nowMs, elected }: ConstraintContext,
): ConstraintInput {
  return {
    nodes: nodes.map((node) => nodeOf(node, config, nowMs)),
    context: {
      config,
      minuteOfDay: minuteOfDay(nowMs),
      flags: Object.keys(config.flags).toSorted(),
      elected: [...elected].toSorted(),
    },
  };
}

function nodeOf({ node, registration }: Registered, config: GroupConfig, nowMs: number) {
  const { site, priority, host, version, tags, health } = registration;
  const ownSitePriority = sitePriority(config, site, nowMs);
  return { node, site, priority, sitePriority: ownSitePriority, host, version, tags, health };
}
