import type { Answer } from '../../strategies/questions.js';

/** The work of a thread. It depends on the kind of the thread's module. */
export interface Work {
  /** The thread's first message. */
  readonly introduction: unknown;
  /**
   * Returns the answer to a question. Throws whatever the module throws. Throws an Error if the module breaks
   * its contract.
   */
  answerTo(question: unknown): Answer;
}
