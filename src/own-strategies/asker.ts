/** Asks strategies that run elsewhere, for work that itself waits for nothing. */
import { keyOf, type StrategyAnswer, type StrategyQuestion, Unanswered } from '../../strategies/questions.js';
import type { Rules } from '../../strategies/registry.js';

/** For whoever does the same work again and again, mostly with the same questions. */
const keptAnswers = 16;

export class StrategyAsker {
  readonly #rules: Rules;
  /** The oldest first. */
  #kept: ReadonlyMap<string, StrategyAnswer> = new Map();

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /**
   * Does `work` by the rules. Where that throws Unanswered, the strategy is asked, and the work is done again with the
   * answer: it must do nothing before it has all answers. Throws what `work` throws otherwise.
   */
  async answered<T>(work: (rules: Rules) => T): Promise<T> {
    const answers = new Map(this.#kept);
    for (;;) {
      try {
        return work({ ...this.#rules, answers });
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
        const { question } = error;
        const key = keyOf(question);
        if (answers.has(key))
          throw new Error(`the answer to this is known: ${error.message}`, { cause: error });
        const answer = await this.#ask(question);
        answers.set(key, answer);
        if (isLasting(answer)) this.#keep(key, answer);
      }
    }
  }

  async #ask(question: StrategyQuestion): Promise<StrategyAnswer> {
    const { strategies } = this.#rules;
    const answer = await strategies.get(question.strategy)?.ask?.(question);
    return answer ?? { failure: 'it cannot be asked here' };
  }

  #keep(key: string, answer: StrategyAnswer): void {
    this.#kept = new Map([...this.#kept, [key, answer] as const].slice(-keptAnswers));
  }
}

/** What fails now may go well later. */
function isLasting(answer: StrategyAnswer): boolean {
  return 'ranking' in answer || ('problems' in answer && answer.problems.length === 0);
}

/** As `StrategyAsker.answered`, for work that is done once. */
export async function answered<T>(rules: Rules, work: (rules: Rules) => T): Promise<T> {
  return await new StrategyAsker(rules).answered(work);
}
