/**
 * A store that rejects writes of an old leader. Each writer passes its fencing token. The store remembers the
 * highest token and rejects lower ones. A leader that was frozen for a minute may not know yet that another
 * node has taken over. Even such a leader cannot overwrite the new leader's data.
 *
 * The store must compare and write atomically. This one uses a lock file for that. In a database, a single
 * statement is enough: UPDATE … SET value = $1, token = $2 WHERE token <= $2
 */
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

export class StaleLeaderError extends Error {
  name = 'StaleLeaderError';
}

export class FencedFile {
  #path;

  /** @param {string} path */
  constructor(path) {
    this.#path = path;
  }

  async read() {
    return (await this.#content()).value;
  }

  /**
   * Writes a value. Throws StaleLeaderError if a writer with a higher token has already written.
   *
   * @param {unknown} value
   * @param {bigint} token
   */
  async write(value, token) {
    await this.#locked(async () => {
      const { token: highest } = await this.#content();
      if (token < BigInt(highest)) throw new StaleLeaderError(`token ${token} is older than ${highest}`);
      const next = `${this.#path}.next`;
      await writeFile(next, JSON.stringify({ token: String(token), value }));
      await rename(next, this.#path);
    });
  }

  async #content() {
    const text = await readFile(this.#path, 'utf8').catch(() => '{"token":"0","value":null}');
    return JSON.parse(text);
  }

  async #locked(work) {
    const lock = `${this.#path}.lock`;
    for (;;) {
      const file = await open(lock, 'wx').catch(() => null);
      if (file === null) {
        await sleep(10);
        continue;
      }
      try {
        return await work();
      } finally {
        await file.close();
        await rm(lock);
      }
    }
  }
}
