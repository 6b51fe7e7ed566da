/** Asks strategies and constraints that run elsewhere, for work that itself waits for nothing. */
import { type Answer, type ChoiceInput, keyOf, Unanswered } from '../../strategies/questions.js';
import type { Rules } from '../../strategies/registry.js';

/** For whoever does the same work again and again, mostly with the same questions. */
const keptAnswers = 16;

export class RuleAsker {
  readonly #rules: Rules;
  /** The oldest first. */
  #kept: ReadonlyMap<string, Answer> = new Map();

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /**
   * Does `work` by the rules. Where that throws Unanswered, the rule is asked, and the work is done again
   * with the answer: it must do nothing before it has all answers. Throws what `work` throws otherwise.
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
        if (answers.has(key)) throw new Error(`the rule failed: ${error.message}`, { cause: error });
        const answer = await this.#ask(question);
        answers.set(key, answer);
        if (isLasting(answer)) this.#keep(key, answer);
      }
    }
  }

  async #ask(question: ChoiceInput): Promise<Answer> {
    const { strategies, ownConstraints } = this.#rules;
    const answer =
      'strategy' in question
        ? await strategies.get(question.strategy)?.ask?.(question)
        : await ownConstraints.get(question.constraint)?.ask(question);
    return answer ?? { failure: 'the rule cannot be run here' };
  }

  #keep(key: string, answer: Answer): void {
    this.#kept = new Map([...this.#kept, [key, answer] as const].slice(-keptAnswers));
  }
}

/** What fails now may go well later. */
function isLasting(answer: Answer): boolean {
  return (
    'ranking' in answer || 'findings' in answer || ('problems' in answer && answer.problems.length === 0)
  );
}

/** As `RuleAsker.answered`, for work that is done once. */
export async function answered<T>(rules: Rules, work: (rules: Rules) => T): Promise<T> {
  return await new RuleAsker(rules).answered(work);
}
