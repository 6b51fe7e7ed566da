/**
 * What an agent remembers of fencing tokens: each that it sees, of any leader. It refuses to lead at a token
 * that has gone back, and says so where another does.
 *
 * Not promised: without a state directory a restart forgets. A standby that neither leads, elects, nor is the
 * next elector sees no claims but its own.
 */
import type { Logger } from 'pino';
import {
  goneBack,
  goneBackText,
  noTokens,
  type SeenTokens,
  type TokenSeen,
  tokensIn,
  withToken,
} from '../../core/seen-tokens.js';
import { errorMessage } from '../../errors.js';
import type { GroupConfig } from '../../model/group-config.js';
import type { GroupSnapshot } from '../../model/snapshot.js';
import { type FailureDetail, noCommand } from '../../model/znodes.js';

export interface TokenStore {
  /** What an earlier life saw; null: nothing. */
  readonly earlier: SeenTokens | null;
  /** Leadership does not wait for it. May reject: a restart then forgets what is new. */
  write(seen: SeenTokens): Promise<void>;
}

export class TokenMemory {
  readonly #store: TokenStore | null;
  readonly #log: Logger;
  #seen: SeenTokens;
  #written: SeenTokens;
  #told = '';
  #problem = '';
  #isWriting = false;

  constructor(store: TokenStore | null, log: Logger) {
    this.#store = store;
    this.#log = log;
    this.#seen = store?.earlier ?? noTokens;
    this.#written = this.#seen;
  }

  /** Remembers what is claimed by others, too. */
  look(snapshot: GroupSnapshot): void {
    const claims = tokensIn(snapshot);
    const problems = claims
      .map((claim) => goneBack(this.#seen, claim, false))
      .filter((found) => found !== null);
    for (const claim of claims) this.#seen = withToken(this.#seen, claim);
    void this.#write();
    const told = problems.map(goneBackText).join('; ');
    if (told !== '' && told !== this.#told) this.#log.error(`the current claim is unsafe: ${told}`);
    this.#told = told;
  }

  /**
   * Of a claim of this node's own, with whose token it must not lead; null: it may, and the token is
   * remembered.
   */
  failure(
    config: GroupConfig | null,
    claim: Pick<TokenSeen, 'slot' | 'token'>,
    isNew: boolean,
  ): FailureDetail | null {
    const seen = { ...claim, epoch: config?.tokenEpoch ?? null };
    const found = goneBack(this.#seen, seen, isNew);
    if (found !== null) {
      const reason = goneBackText(found);
      this.#log.error(claim, `not taking over: ${reason}`);
      return { ...noCommand, phase: 'claim', reason };
    }
    this.#seen = withToken(this.#seen, seen);
    void this.#write();
    return null;
  }

  /** One write at a time. What could not be written is tried again with the next look. */
  async #write(): Promise<void> {
    if (this.#store === null || this.#isWriting) return;
    this.#isWriting = true;
    try {
      while (this.#written !== this.#seen) {
        const seen = this.#seen;
        await this.#store.write(seen);
        this.#written = seen;
        this.#problem = '';
      }
    } catch (error) {
      const problem = `cannot save the fencing tokens for a restart: ${errorMessage(error)}`;
      if (problem !== this.#problem) this.#log.error({ error }, problem);
      this.#problem = problem;
    } finally {
      this.#isWriting = false;
    }
  }
}
