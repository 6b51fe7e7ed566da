import type { Answer } from '../../strategies/questions.js';

/** What a thread does, by the kind of its module. */
export interface Work {
  /** What it says first of all. */
  readonly introduction: unknown;
  /** Throws what the module throws, and where it breaks its contract. */
  answerTo(question: unknown): Answer;
}
