/**
 * The certificates that a guardian uses for TLS. The files are read again before each connection, because
 * they may have been replaced since the agent started. The reads do not block, so the guardian can still kill
 * processes if a disk does not respond.
 */
import { readFile } from 'node:fs/promises';
import { errorMessage } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { SecureOptions } from '../zookeeper/dial.js';
import { newestOf } from '../zookeeper/newest-certificates.js';
import type { Logger } from '../zookeeper/session.js';
import type { TlsOptions } from '../zookeeper/tls-options.js';
import type { TlsNote, TlsParts } from './messages.js';

export class Certificates {
  readonly #note: TlsNote;
  readonly #clock: Clock;
  readonly #newest: () => SecureOptions;
  /**
   * Last content that was read from the files, and the reason why the last read failed. The reason is null if
   * that read succeeded.
   */
  #read: TlsParts;
  #problem: string | null = null;
  #reading: Promise<void> | null = null;

  constructor(note: TlsNote, clock: Clock, log: Logger) {
    this.#note = note;
    this.#clock = clock;
    this.#read = note.atStart;
    const reread = () => {
      if (this.#problem !== null) throw new Error(this.#problem);
      return this.#options(this.#read);
    };
    this.#newest = newestOf({ ...this.#options(note.atStart), reread }, log);
  }

  /** Returns the newest usable options. */
  inForce(): SecureOptions {
    return this.#newest();
  }

  /** Reads the files again. Resolves when this is done, or after `limitMs` at the latest. Never rejects. */
  async renew(limitMs: number): Promise<void> {
    this.#reading ??= this.#readFiles().finally(() => {
      this.#reading = null;
    });
    let cancel = () => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#clock.timer(limitMs, resolve);
    });
    await Promise.race([this.#reading, late]);
    cancel();
  }

  async #readFiles(): Promise<void> {
    const { files, atStart } = this.#note;
    try {
      const [ca, cert, key, secret] = await Promise.all(
        [files.ca, files.cert, files.key, files.passphrase].map(async (path) =>
          path === null ? null : await readFile(path, 'utf8'),
        ),
      );
      const passphrase = secret?.replace(/\r?\n$/, '') ?? atStart.passphrase;
      this.#read = { ca: ca ?? null, cert: cert ?? null, key: key ?? null, passphrase };
      this.#problem = null;
    } catch (error) {
      this.#problem = errorMessage(error);
    }
  }

  #options({ ca, cert, key, passphrase }: TlsParts): Omit<TlsOptions, 'reread'> {
    const { servername, rejectUnauthorized } = this.#note;
    return {
      ...(ca === null ? {} : { ca }),
      ...(cert === null ? {} : { cert }),
      ...(key === null ? {} : { key }),
      ...(passphrase === null ? {} : { passphrase }),
      ...(servername === null ? {} : { servername }),
      rejectUnauthorized,
    };
  }
}
