import type { Answer } from '../../strategies/questions.js';

/** The work of a thread, which depends on the kind of its module. */
export interface Work {
  /** The thread's first message. */
  readonly introduction: unknown;
  /** Throws whatever the module throws, and an Error if it breaks its contract. */
  answerTo(question: unknown): Answer;
}
