import type { Answer } from '../../strategies/questions.js';

/** The work of a thread, which depends on the kind of module that the thread runs. */
export interface Work {
  /** The thread's first message. */
  readonly introduction: unknown;
  /**
   * Returns the answer to a question. Throws whatever the module throws. Throws an Error if the module breaks
   * its contract.
   */
  answerTo(question: unknown): Answer;
}
