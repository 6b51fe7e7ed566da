/**
 * A user-defined strategy in the form that the rest of Petrel uses. A ranking is available here only after
 * the strategy's thread has computed it.
 */
import { type Answer, type Answers, answerTo, type StrategyQuestion } from '../../strategies/questions.js';
import {
  optionProblems,
  type Prepared,
  type ReadyStrategy,
  type RegisteredStrategy,
  type Rules,
} from '../../strategies/registry.js';
import { type StrategyIntroduction, strategySchema } from './messages.js';
import { OwnRule } from './own-rule.js';

export class OwnStrategy implements RegisteredStrategy {
  readonly #rule: OwnRule<StrategyIntroduction>;

  private constructor(rule: OwnRule<StrategyIntroduction>) {
    this.#rule = rule;
  }

  /**
   * Loads the strategy from the ES module at `url`. Throws PetrelError INVALID if the module does not contain
   * a strategy.
   */
  static async load(url: string): Promise<OwnStrategy> {
    const module = { url, kind: 'strategy', introduction: strategySchema } as const;
    return new OwnStrategy(await OwnRule.load(module, 'strategies'));
  }

  get name(): string {
    return this.#rule.introduction.name;
  }

  get description(): string {
    return this.#rule.introduction.description;
  }

  get version(): string {
    return this.#rule.version;
  }

  usesScores(): boolean {
    return this.#rule.introduction.usesScores;
  }

  prepare(options: unknown, { answers }: Rules): Prepared {
    const answer = answerTo({ strategy: this.name, options, input: null }, answers);
    if ('failure' in answer) return wrong([`strategy ${this.name} failed: ${answer.failure}`]);
    if (!('problems' in answer))
      return wrong([`strategy ${this.name} returned a ranking instead of checking its options`]);
    if (answer.problems.length > 0) return wrong(optionProblems(this.name, answer.problems));
    return { strategy: this.#ready(options, answers), problems: null };
  }

  async ask({ options, input }: StrategyQuestion): Promise<Answer> {
    return await this.#rule.ask({ options, input });
  }

  async close(): Promise<void> {
    await this.#rule.close();
  }

  #ready(options: unknown, answers: Answers | undefined): ReadyStrategy {
    return {
      name: this.name,
      usesScores: this.usesScores(),
      rank: (input) => {
        const answer = answerTo({ strategy: this.name, options, input }, answers);
        if ('failure' in answer) throw new Error(answer.failure);
        if (!('ranking' in answer)) throw new Error('the strategy no longer accepts its options');
        return answer.ranking;
      },
    };
  }
}

function wrong(problems: string[]): Prepared {
  return { strategy: null, problems };
}
