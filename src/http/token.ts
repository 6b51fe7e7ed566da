/** Who may change the group: whoever has the token. */
import { createHash, timingSafeEqual } from 'node:crypto';

export class TokenCheck {
  /** Of the token: comparing takes the same time whatever is compared, and however long it is. */
  #digest: Buffer | null;

  constructor(token: string | null) {
    this.#digest = digestOf(token);
  }

  /** From now on. */
  use(token: string | null): void {
    this.#digest = digestOf(token);
  }

  /** False: nobody may change anything. */
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
