/** Gives synchronous code the answers of strategies and constraints that run in other threads. */
import { type Answer, type ChoiceInput, keyOf, Unanswered } from '../../strategies/questions.js';
import type { Rules } from '../../strategies/registry.js';

/** Number of answers that are kept. Callers repeat the same work, mostly with the same questions. */
const keptAnswers = 16;

export class RuleAsker {
  readonly #rules: Rules;
  /** Answers, keyed by question, oldest first. */
  #kept: ReadonlyMap<string, Answer> = new Map();

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /**
   * Runs `work` with the rules and returns its result. If `work` throws Unanswered, queries the rule whose
   * answer is missing and runs `work` again with that answer. `work` must have no effects before it has all
   * answers. Throws any other error that `work` throws.
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

/**
 * Whether to keep the answer in case the same question is asked again. Failures are not kept, because a rule
 * that fails now may succeed later.
 */
function isLasting(answer: Answer): boolean {
  return (
    'ranking' in answer || 'findings' in answer || ('problems' in answer && answer.problems.length === 0)
  );
}

/** Does the same as `RuleAsker.answered`, for work that is done only once. */
export async function answered<T>(rules: Rules, work: (rules: Rules) => T): Promise<T> {
  return await new RuleAsker(rules).answered(work);
}
