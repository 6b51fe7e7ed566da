/**
 * What a node remembers of its session between two lives of its agent, in its state directory: enough to end the
 * earlier life's session at once instead of waiting for it to expire. Never grants leadership.
 *
 * The file holds the session's password, so it is readable by its owner alone.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { longSchema, parseJson } from '../core/names.js';
import { errorMessage, PetrelError } from '../errors.js';
import { isOtherAlive } from './process-life.js';

const sessionSchema = z.object({
  session: longSchema,
  password: z.base64(),
  incarnation: z.string(),
  pid: z.int(),
  /** True while this node may have a workload: then its death is not proven by the agent's. */
  tenure: z.boolean(),
});
export type RememberedSession = z.infer<typeof sessionSchema>;

export class SessionFile {
  readonly #path: string;
  readonly #lock: string;

  private constructor(directory: string, node: string) {
    this.#path = join(directory, `${node}.session.json`);
    this.#lock = join(directory, `${node}.lock`);
  }

  /** Throws PetrelError INVALID when the directory cannot be used, or a living agent uses it for this node. */
  static open(directory: string, node: string): SessionFile {
    const file = new SessionFile(directory, node);
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      file.#takeLock(node);
    } catch (cause) {
      if (cause instanceof PetrelError) throw cause;
      const message = `the state directory ${directory} cannot be used: ${errorMessage(cause)}`;
      throw new PetrelError('INVALID', message, { cause });
    }
    return file;
  }

  #takeLock(node: string): void {
    const holder = existsSync(this.#lock) ? Number(readFileSync(this.#lock, 'utf8')) : 0;
    if (Number.isSafeInteger(holder) && holder > 0 && isOtherAlive(holder)) {
      const right = 'stop it, or give this one another --state-dir or --node-id';
      throw new PetrelError(
        'DUPLICATE_NODE',
        `process ${holder} on this machine runs node ${node} already (${this.#lock}): ${right}`,
      );
    }
    writeFileSync(this.#lock, String(process.pid), { mode: 0o600 });
  }

  /** The earlier life; null when there is none, or the file cannot be understood. */
  read(): RememberedSession | null {
    if (!existsSync(this.#path)) return null;
    return parseJson(sessionSchema, readFileSync(this.#path, 'utf8')).value;
  }

  write(remembered: RememberedSession): void {
    const next = `${this.#path}.next`;
    writeFileSync(next, JSON.stringify(remembered), { mode: 0o600 });
    renameSync(next, this.#path);
  }

  /** The session has ended in good order: nothing to remember. */
  close(): void {
    rmSync(this.#path, { force: true });
    rmSync(this.#lock, { force: true });
  }
}
