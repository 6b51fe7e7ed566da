/**
 * What a node remembers of its session between two lives of its agent, in its state directory: enough to end
 * the earlier life's session at once instead of waiting for it to expire. Never grants leadership. Nodes of
 * several groups share a directory.
 *
 * The file holds the session's password, so it is readable by its owner alone.
 */
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { errorMessage, PetrelError } from '../../errors.js';
import { longSchema, parseJson } from '../../model/names.js';
import { isOtherAlive, ownProcess, type ProcessName, parseProcess, processText } from './process-life.js';
import type { SessionMemory, SessionTicket } from './session-memory.js';

const passwordBytes = 16;
const passwordSchema = z
  .base64()
  .refine((text) => Buffer.from(text, 'base64').length === passwordBytes, 'expected a password of 16 bytes');
const sessionSchema = z.object({ session: longSchema, password: passwordSchema });
type RememberedSession = z.infer<typeof sessionSchema>;

/** No root is written so. */
const severalGroups = '%groups';

/** Locks that this process holds. */
const heldHere = new Set<string>();

/** Conditions that may pass without a change of settings, so that a restart of the agent can succeed. */
const passing: ReadonlySet<unknown> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  // A link to a disk that is not mounted, or a disk that left while the agent looked.
  'ENOENT',
  // A network disk out of reach.
  'ESTALE',
  'ENOTCONN',
  'ETIMEDOUT',
]);

function isPassing(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && passing.has(cause.code);
}

/** Creates directories one by one: on a read-only disk a recursive `mkdir` reports ENOENT. */
export function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Of a link that leads nowhere, mkdir says that it exists; stat says what is wrong.
    if (codeOf(error) === 'EEXIST') statSync(path);
    else throw error;
  }
}

export class SessionFile implements SessionMemory {
  readonly #path: string;
  readonly #lock: string;
  #earlier: RememberedSession | null = null;

  private constructor(directory: string, node: string) {
    this.#path = join(directory, `${node}.session.json`);
    this.#lock = join(directory, `${node}.lock`);
  }

  /**
   * `root` null: of a node that is in several groups. Throws PetrelError INVALID when the directory cannot be
   * used, FAILED when that may pass by itself (a full or read-only disk), DUPLICATE_NODE when a living agent
   * uses it for this node of this group.
   */
  static open(stateDir: string, root: string | null, node: string): SessionFile {
    const directory = join(stateDir, root === null ? severalGroups : encodeURIComponent(root.slice(1)));
    const file = new SessionFile(directory, node);
    try {
      makeDirectory(directory);
      file.#takeLock(node);
      file.#earlier = file.#read();
    } catch (cause) {
      if (cause instanceof PetrelError) throw cause;
      const message = `cannot use the state directory ${stateDir}: ${errorMessage(cause)}`;
      throw new PetrelError(isPassing(cause) ? 'FAILED' : 'INVALID', message, { cause });
    }
    return file;
  }

  #takeLock(node: string): void {
    for (;;) {
      const { holder, text } = this.#lockHolder();
      if (holder !== null) {
        const right = 'stop that process, or choose another node id or state directory for this agent';
        throw new PetrelError(
          'DUPLICATE_NODE',
          `process ${holder.pid} on this machine already runs node ${node} (${this.#lock}): ${right}`,
        );
      }
      if (text !== null) this.#setAside(text);
      if (this.#lockIsMade()) break;
    }
    heldHere.add(this.#lock);
  }

  /** The living process that holds the lock, or null, and what the lock says. */
  #lockHolder(): { readonly holder: ProcessName | null; readonly text: string | null } {
    const text = textOf(this.#lock);
    if (heldHere.has(this.#lock)) return { holder: ownProcess(), text };
    const holder = text === null ? null : parseProcess(text);
    return { holder: holder !== null && isOtherAlive(holder) ? holder : null, text };
  }

  /** Of several that find the lock of a process that has died, one takes its place. */
  #setAside(dead: string): void {
    const aside = `${this.#lock}.${process.pid}.dead`;
    try {
      renameSync(this.#lock, aside);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return;
      throw error;
    }
    // Another was faster, and it is its lock that was taken away.
    if (textOf(aside) !== dead) linked(aside, this.#lock);
    rmSync(aside, { force: true });
  }

  /** False: another was faster. */
  #lockIsMade(): boolean {
    const own = `${this.#lock}.${process.pid}`;
    writeFileSync(own, processText(ownProcess()), { mode: 0o600 });
    try {
      return linked(own, this.#lock);
    } finally {
      rmSync(own, { force: true });
    }
  }

  get earlier(): SessionTicket | null {
    if (this.#earlier === null) return null;
    const { session, password } = this.#earlier;
    return { id: BigInt(session), password: Buffer.from(password, 'base64') };
  }

  #read(): RememberedSession | null {
    const text = textOf(this.#path);
    return text === null ? null : parseJson(sessionSchema, text).value;
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

/** Null where there is no such file. */
export function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

/**
 * A second name for a file: it is there with all that it holds, or not at all. False when the name is taken.
 */
function linked(path: string, name: string): boolean {
  try {
    linkSync(path, name);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null;
}
