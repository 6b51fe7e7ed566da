/**
 * An agent's memory of the fencing tokens of all leaders that it sees. The agent refuses to lead with a token
 * that is lower than an earlier one, and reports another leader that has such a token.
 *
 * Not promised: that the memory survives a restart without a state directory, or that every agent sees every
 * token. A standby that is not the next elector does not see the claims of other nodes.
 */
import type { Logger } from 'pino';
import { errorMessage } from '../../errors.js';
import type { GroupConfig } from '../../model/group-config.js';
import type { GroupSnapshot } from '../../model/snapshot.js';
import { type FailureDetail, noCommand } from '../../model/znodes.js';
import {
  goneBack,
  goneBackText,
  noTokens,
  type SeenTokens,
  type TokenSeen,
  tokensIn,
  withToken,
} from '../../slots/seen-tokens.js';

export interface TokenStore {
  /** Tokens that an earlier run has seen. Null if there are none. */
  readonly earlier: SeenTokens | null;
  /**
   * Writes the tokens. Leadership does not wait for this. May reject. In that case, the new tokens are lost
   * on a restart.
   */
  write(tokens: SeenTokens): Promise<void>;
}

export class TokenMemory {
  readonly #store: TokenStore | null;
  readonly #log: Logger;
  #tokens: SeenTokens;
  #written: SeenTokens;
  #logged = '';
  #problem = '';
  #isWriting = false;

  constructor(store: TokenStore | null, log: Logger) {
    this.#store = store;
    this.#log = log;
    this.#tokens = store?.earlier ?? noTokens;
    this.#written = this.#tokens;
  }

  /** Remembers the tokens of all claims, including those of other nodes. */
  look(snapshot: GroupSnapshot): void {
    const claims = tokensIn(snapshot);
    const problems = claims
      .map((claim) => goneBack(this.#tokens, claim, false))
      .filter((found) => found !== null);
    for (const claim of claims) this.#tokens = withToken(this.#tokens, claim);
    void this.#write();
    const problem = problems.map(goneBackText).join('; ');
    if (problem !== '' && problem !== this.#logged)
      this.#log.error(`the current claim is unsafe: ${problem}`);
    this.#logged = problem;
  }

  /**
   * Returns the reason why this node must not lead with the token of its own claim. If the node may lead,
   * remembers the token and returns null.
   */
  failure(
    config: GroupConfig | null,
    claim: Pick<TokenSeen, 'slot' | 'token'>,
    isNew: boolean,
  ): FailureDetail | null {
    const token = { ...claim, epoch: config?.tokenEpoch ?? null };
    const found = goneBack(this.#tokens, token, isNew);
    if (found !== null) {
      const reason = goneBackText(found);
      this.#log.error(claim, `not taking over: ${reason}`);
      return { ...noCommand, phase: 'claim', reason };
    }
    this.#tokens = withToken(this.#tokens, token);
    void this.#write();
    return null;
  }

  /** Runs one write at a time. The next snapshot retries a failed write. */
  async #write(): Promise<void> {
    if (this.#store === null || this.#isWriting) return;
    this.#isWriting = true;
    try {
      while (this.#written !== this.#tokens) {
        const tokens = this.#tokens;
        await this.#store.write(tokens);
        this.#written = tokens;
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
