/** Checks the token that permits changes to the group. */
import { createHash, timingSafeEqual } from 'node:crypto';

export class TokenCheck {
  /**
   * Digest of the token. The time that it takes to compare digests depends neither on the content nor on the
   * length of the token in a request.
   */
  #digest: Buffer | null;

  constructor(token: string | null) {
    this.#digest = digestOf(token);
  }

  /** Replaces the token for all later checks. */
  use(token: string | null): void {
    this.#digest = digestOf(token);
  }

  /** Whether a token is set. If no token is set, changes are disabled. */
  get isSet(): boolean {
    return this.#digest !== null;
  }

  accepts(given: string): boolean {
    const digest = digestOf(given);
    return this.#digest !== null && digest !== null && timingSafeEqual(this.#digest, digest);
  }
}

function digestOf(token: string | null): Buffer | null {
  return token === null ? null : createHash('sha256').update(token).digest();
}
