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
import { isOtherAlive, ownProcess, type ProcessName, parseProcess, processText } from './process-life.js';
import type { SessionMemory, SessionTicket } from './session-memory.js';

const passwordBytes = 16;
const passwordSchema = z
  .base64()
  .refine((text) => Buffer.from(text, 'base64').length === passwordBytes, 'a password of 16 bytes');
const sessionSchema = z.object({ session: longSchema, password: passwordSchema });
type RememberedSession = z.infer<typeof sessionSchema>;

/** Locks that this process holds. */
const heldHere = new Set<string>();

export class SessionFile implements SessionMemory {
  readonly #path: string;
  readonly #lock: string;
  #earlier: RememberedSession | null = null;

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
      file.#earlier = file.#read();
    } catch (cause) {
      if (cause instanceof PetrelError) throw cause;
      const message = `the state directory ${directory} cannot be used: ${errorMessage(cause)}`;
      throw new PetrelError('INVALID', message, { cause });
    }
    return file;
  }

  #takeLock(node: string): void {
    const holder = this.#lockHolder();
    if (holder !== null) {
      const right = 'stop it, or give this one another node id or state directory';
      throw new PetrelError(
        'DUPLICATE_NODE',
        `process ${holder.pid} on this machine runs node ${node} already (${this.#lock}): ${right}`,
      );
    }
    writeFileSync(this.#lock, processText(ownProcess()), { mode: 0o600 });
    heldHere.add(this.#lock);
  }

  /** The living process that holds the lock, or null. */
  #lockHolder(): ProcessName | null {
    if (heldHere.has(this.#lock)) return ownProcess();
    const holder = existsSync(this.#lock) ? parseProcess(readFileSync(this.#lock, 'utf8')) : null;
    return holder !== null && isOtherAlive(holder) ? holder : null;
  }

  get earlier(): SessionTicket | null {
    if (this.#earlier === null) return null;
    const { session, password } = this.#earlier;
    return { id: BigInt(session), password: Buffer.from(password, 'base64') };
  }

  #read(): RememberedSession | null {
    if (!existsSync(this.#path)) return null;
    return parseJson(sessionSchema, readFileSync(this.#path, 'utf8')).value;
  }

  /** Throws what the file system does. */
  write({ id, password }: SessionTicket): void {
    const remembered: RememberedSession = { session: String(id), password: password.toString('base64') };
    const next = `${this.#path}.next`;
    writeFileSync(next, JSON.stringify(remembered), { mode: 0o600 });
    renameSync(next, this.#path);
  }

  /** Throws what the file system does. */
  close(ended: boolean): void {
    heldHere.delete(this.#lock);
    if (ended) rmSync(this.#path, { force: true });
    rmSync(this.#lock, { force: true });
  }
}
