/**
 * A strategy of a user's own, as the rest of Petrel sees strategies. It runs in a thread; whoever asks waits for it, as for
 * any function, but for a limited time: a strategy that does not answer is ended, and started anew for later.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { optionProblems, type ReadyStrategy, type RegisteredStrategy } from '../../strategies/registry.js';
import { errorMessage, PetrelError } from '../errors.js';
import type { Answer, Introduction } from './messages.js';
import { StrategyThread } from './strategy-thread.js';

/** For one answer: much less than a lease has to spare. */
const limitMs = 250;

type Prepared = ReturnType<RegisteredStrategy['prepare']>;

export class OwnStrategy implements RegisteredStrategy {
  readonly #introduction: Introduction;
  readonly #url: string;
  readonly #digest: string;
  /** Null while it is started anew. */
  #thread: StrategyThread | null;
  #isStarting = false;
  /** Why it could not be started anew; null: nothing kept it. */
  #lacks: string | null = null;
  /** By the options as JSON: a configuration is read at every turn. */
  readonly #prepared = new Map<string, Prepared>();

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

  prepare(options: unknown): Prepared {
    const key = JSON.stringify(options) ?? '';
    const known = this.#prepared.get(key);
    if (known !== undefined) return known;
    const prepared = this.#prepare(options);
    if (prepared.problems === null) this.#prepared.set(key, prepared);
    return prepared;
  }

  async close(): Promise<void> {
    await this.#thread?.end();
  }

  #prepare(options: unknown): Prepared {
    const wrong = (problems: string[]) => ({ strategy: null, problems });
    try {
      const answer = this.#ask(options, null);
      if ('failure' in answer) return wrong([`strategy ${this.name} failed: ${answer.failure}`]);
      if (!('problems' in answer))
        return wrong([`strategy ${this.name} answered otherwise than it was asked`]);
      if (answer.problems.length === 0) return { strategy: this.#ready(options), problems: null };
      return wrong(optionProblems(this.name, answer.problems));
    } catch (error) {
      return wrong([`strategy ${this.name}: ${errorMessage(error)}`]);
    }
  }

  #ready(options: unknown): ReadyStrategy {
    return {
      name: this.name,
      usesScores: this.#introduction.usesScores,
      rank: (input) => {
        const answer = this.#ask(options, input);
        if ('failure' in answer) throw new Error(answer.failure);
        if (!('ranking' in answer)) throw new Error('it does not take its options any more');
        return answer.ranking;
      },
    };
  }

  #ask(options: unknown, input: unknown): Answer {
    if (this.#thread === null) {
      void this.#start();
      throw new Error(`it did not answer in time, and ${this.#lacks ?? 'is being started anew'}`);
    }
    const answer = this.#thread.ask({ options, input }, limitMs);
    if (answer !== null) return answer;
    void this.#restart(this.#thread);
    throw new Error(`it did not answer within ${limitMs} ms`);
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
      this.#lacks = `cannot be started anew: ${errorMessage(error)}`;
    } finally {
      this.#isStarting = false;
    }
  }
}

function digestOf(url: string): string {
  const text = readFileSync(fileURLToPath(url));
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
