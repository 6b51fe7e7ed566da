/**
 * A strategy of a user's own, as the rest of Petrel sees strategies. It runs in a thread, and is asked there before it can
 * rank here. A strategy that does not answer in time is ended, and started again for later.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  answerTo,
  type StrategyAnswer,
  type StrategyAnswers,
  type StrategyQuestion,
} from '../../strategies/questions.js';
import {
  optionProblems,
  type Prepared,
  type ReadyStrategy,
  type RegisteredStrategy,
  type Rules,
} from '../../strategies/registry.js';
import { errorMessage, PetrelError } from '../errors.js';
import type { Introduction } from './messages.js';
import { StrategyThread } from './strategy-thread.js';

/** For one answer: a decision waits for it. */
const limitMs = 250;

export class OwnStrategy implements RegisteredStrategy {
  readonly #introduction: Introduction;
  readonly #url: string;
  readonly #digest: string;
  /** Null while it is started again. */
  #thread: StrategyThread | null;
  #isStarting = false;
  /** Why it could not be started again; null: nothing prevented it. */
  #lacks: string | null = null;
  /** Of the question before: the thread takes one at a time, and each has the whole limit. */
  #answered: Promise<unknown> = Promise.resolve();

  private constructor(url: string, thread: StrategyThread, introduction: Introduction, digest: string) {
    this.#url = url;
    this.#thread = thread;
    this.#introduction = introduction;
    this.#digest = digest;
  }

  /** `url` is that of an ES module. Throws PetrelError INVALID for one that is no strategy. */
  static async load(url: string): Promise<OwnStrategy> {
    try {
      const digest = digestOf(url);
      const { thread, introduction } = await StrategyThread.start(url);
      return new OwnStrategy(url, thread, introduction, digest);
    } catch (error) {
      throw new PetrelError('INVALID', `strategies: ${fileURLToPath(url)}: ${errorMessage(error)}`, {
        cause: error,
      });
    }
  }

  get name(): string {
    return this.#introduction.name;
  }

  get description(): string {
    return this.#introduction.description;
  }

  /** Its own, and a digest of the module's text: two that differ may rank otherwise. */
  get version(): string {
    const { version } = this.#introduction;
    return version === null ? this.#digest : `${version}+${this.#digest}`;
  }

  usesScores(): boolean {
    return this.#introduction.usesScores;
  }

  prepare(options: unknown, { answers }: Rules): Prepared {
    const answer = answerTo({ strategy: this.name, options, input: null }, answers);
    if ('failure' in answer) return wrong([`strategy ${this.name} failed: ${answer.failure}`]);
    if (!('problems' in answer))
      return wrong([`strategy ${this.name} ranked instead of checking its options`]);
    if (answer.problems.length > 0) return wrong(optionProblems(this.name, answer.problems));
    return { strategy: this.#ready(options, answers), problems: null };
  }

  async ask(question: StrategyQuestion): Promise<StrategyAnswer> {
    const answer = this.#answered.then(() => this.#answerTo(question));
    this.#answered = answer;
    return await answer;
  }

  async close(): Promise<void> {
    await this.#thread?.end();
  }

  #ready(options: unknown, answers: StrategyAnswers | undefined): ReadyStrategy {
    return {
      name: this.name,
      usesScores: this.#introduction.usesScores,
      rank: (input) => {
        const answer = answerTo({ strategy: this.name, options, input }, answers);
        if ('failure' in answer) throw new Error(answer.failure);
        if (!('ranking' in answer)) throw new Error('it no longer takes its options');
        return answer.ranking;
      },
    };
  }

  /** Never rejects. */
  async #answerTo({ options, input }: StrategyQuestion): Promise<StrategyAnswer> {
    const thread = this.#thread;
    if (thread === null) {
      void this.#start();
      return { failure: `it did not answer in time, and ${this.#lacks ?? 'is being started again'}` };
    }
    try {
      const answer = await thread.ask({ options, input }, limitMs);
      if (answer !== null) return answer;
    } catch (error) {
      return { failure: errorMessage(error) };
    }
    void this.#restart(thread);
    return { failure: `it did not answer within ${limitMs} ms` };
  }

  async #restart(thread: StrategyThread): Promise<void> {
    this.#thread = null;
    this.#lacks = null;
    await thread.end();
    await this.#start();
  }

  /** Where it fails whoever asks is told why, and it is tried once more. Never rejects. */
  async #start(): Promise<void> {
    if (this.#isStarting) return;
    this.#isStarting = true;
    try {
      // Everybody was told the version of the text that was loaded first.
      if (digestOf(this.#url) !== this.#digest) {
        throw new Error(
          'its module has changed since: start the agent anew, with the same module everywhere',
        );
      }
      this.#thread = (await StrategyThread.start(this.#url)).thread;
    } catch (error) {
      this.#lacks = `cannot be started again: ${errorMessage(error)}`;
    } finally {
      this.#isStarting = false;
    }
  }
}

function wrong(problems: string[]): Prepared {
  return { strategy: null, problems };
}

function digestOf(url: string): string {
  const text = readFileSync(fileURLToPath(url));
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
