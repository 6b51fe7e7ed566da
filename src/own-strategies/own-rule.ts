/**
 * A user-defined strategy or constraint: an ES module that runs in a thread and answers questions there. If
 * the thread does not answer in time, it is stopped, and a new thread is started for later questions.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Answer } from '../../strategies/questions.js';
import { errorMessage, PetrelError } from '../errors.js';
import { type RuleModule, RuleThread } from './rule-thread.js';

/** Time limit for one answer. It is short because a decision waits for the answer. */
const limitMs = 250;

/** The settings that list the modules of user-defined rules. */
export type RuleSetting = 'strategies' | 'constraints';

interface Introduced {
  readonly name: string;
  readonly description: string;
  readonly version: string | null;
}

export class OwnRule<Introduction extends Introduced> {
  readonly introduction: Introduction;
  readonly #module: RuleModule<Introduction>;
  readonly #digest: string;
  /** The rule's thread. Null while the thread is being restarted, or if the restart failed. */
  #thread: RuleThread | null;
  #isStarting = false;
  /** Reason why the thread could not be restarted. Null if no restart has failed. */
  #lacks: string | null = null;
  /**
   * Resolves once the previous question is answered. The thread takes one question at a time, and each
   * question has the full time limit.
   */
  #answered: Promise<unknown> = Promise.resolve();

  private constructor(
    module: RuleModule<Introduction>,
    thread: RuleThread,
    introduction: Introduction,
    digest: string,
  ) {
    this.#module = module;
    this.#thread = thread;
    this.introduction = introduction;
    this.#digest = digest;
  }

  /**
   * Loads the module and starts its thread. Throws PetrelError INVALID if this fails or if the module is not
   * of the expected kind.
   */
  static async load<Introduction extends Introduced>(
    module: RuleModule<Introduction>,
    setting: RuleSetting,
  ): Promise<OwnRule<Introduction>> {
    const path = fileURLToPath(module.url);
    try {
      const digest = digestOf(module.url);
      const { thread, introduction } = await RuleThread.start(module);
      return new OwnRule(module, thread, introduction, digest);
    } catch (error) {
      throw new PetrelError('INVALID', `${setting}: ${path}: ${errorMessage(error)}`, { cause: error });
    }
  }

  /**
   * Combines the module's own version with a digest of its source text, because a change in that text may
   * change the results.
   */
  get version(): string {
    const { version } = this.introduction;
    return version === null ? this.#digest : `${version}+${this.#digest}`;
  }

  /** Returns the answer to a question, or the reason why there is none. Never rejects. */
  async ask(question: unknown): Promise<Answer> {
    const answer = this.#answered.then(() => this.#answerTo(question));
    this.#answered = answer;
    return await answer;
  }

  async close(): Promise<void> {
    await this.#thread?.end();
  }

  /**
   * Returns the answer to one question. If the thread does not respond in time, restarts it in the background
   * and returns a failure. Never rejects.
   */
  async #answerTo(question: unknown): Promise<Answer> {
    const thread = this.#thread;
    if (thread === null) {
      void this.#start();
      return { failure: `the module did not respond in time, and ${this.#lacks ?? 'is being restarted'}` };
    }
    try {
      const answer = await thread.ask(question, limitMs);
      if (answer !== null) return answer;
    } catch (error) {
      return { failure: errorMessage(error) };
    }
    void this.#restart(thread);
    return { failure: `the module did not respond within ${limitMs} ms` };
  }

  async #restart(thread: RuleThread): Promise<void> {
    this.#thread = null;
    this.#lacks = null;
    await thread.end();
    await this.#start();
  }

  /**
   * Starts the thread again. If this fails, later answers contain the reason, and the next question triggers
   * another attempt. Never rejects.
   */
  async #start(): Promise<void> {
    if (this.#isStarting) return;
    this.#isStarting = true;
    try {
      // The module may be loaded again only if its text is unchanged. The version that was reported belongs
      // to the text that was loaded first.
      if (digestOf(this.#module.url) !== this.#digest) {
        throw new Error(
          'its module has changed since it was loaded: restart the agents, with the same module on all nodes',
        );
      }
      this.#thread = (await RuleThread.start(this.#module)).thread;
    } catch (error) {
      this.#lacks = `cannot be restarted: ${errorMessage(error)}`;
    } finally {
      this.#isStarting = false;
    }
  }
}

function digestOf(url: string): string {
  const text = readFileSync(fileURLToPath(url));
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
