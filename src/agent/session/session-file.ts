/**
 * The file in a node's state directory in which the node remembers its session between runs of its agent.
 * With the content of the file, the node can end the session of the earlier run immediately instead of
 * waiting for it to expire. The file never grants leadership. Nodes of several groups can share a directory.
 *
 * The file contains the session's password, so only the file's owner can read it.
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
import {
  guardianOf,
  isOtherAlive,
  ownProcess,
  type ProcessName,
  parseProcess,
  processText,
} from './process-life.js';
import type { SessionMemory, SessionTicket } from './session-memory.js';

const passwordBytes = 16;
const passwordSchema = z
  .base64()
  .refine((text) => Buffer.from(text, 'base64').length === passwordBytes, 'expected a password of 16 bytes');
const sessionSchema = z.object({ session: longSchema, password: passwordSchema });
type RememberedSession = z.infer<typeof sessionSchema>;

/** Directory name for a node that is in several groups. No root is ever encoded as this name. */
const severalGroups = '%groups';

/** Locks that this process holds. */
const heldHere = new Set<string>();

/** Errors that may disappear without a change to the settings. A restart of the agent can then succeed. */
const passing: ReadonlySet<unknown> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  // The path is a link to a disk that is not mounted, or the disk disappeared during the check.
  'ENOENT',
  // A network disk cannot be reached.
  'ESTALE',
  'ENOTCONN',
  'ETIMEDOUT',
]);

function isPassing(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && passing.has(cause.code);
}

/** Creates directories one by one, because a recursive `mkdir` reports ENOENT on a read-only disk. */
export function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // For a broken link, mkdir reports that the path exists. stat reports the actual problem.
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
   * Opens the file and locks it. `root` is null for a node that is in several groups. Throws PetrelError:
   * - INVALID if the directory cannot be used.
   * - FAILED if the cause may disappear on its own, such as a full or read-only disk.
   * - DUPLICATE_NODE if a running agent uses the directory for this node of this group.
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
      throw new PetrelError(isPassing(cause) ? 'FAILED' : 'INVALID', message, {
        cause,
        remedies: [{ kind: 'state-dir' }],
      });
    }
    return file;
  }

  #takeLock(node: string): void {
    for (;;) {
      const { holder, text } = this.#lockHolder();
      if (holder !== null) {
        const guardian = guardianOf(holder);
        const stop = guardian === null ? 'stop that process' : `stop its guardian, process ${guardian}`;
        const right = `${stop}, or choose another node id or state directory for this agent`;
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

  /**
   * Returns the lock's content, and the running process that holds the lock. Each is null if there is none.
   */
  #lockHolder(): { readonly holder: ProcessName | null; readonly text: string | null } {
    const text = textOf(this.#lock);
    if (heldHere.has(this.#lock)) return { holder: ownProcess(), text };
    const holder = text === null ? null : parseProcess(text);
    return { holder: holder !== null && isOtherAlive(holder) ? holder : null, text };
  }

  /**
   * Removes the lock of a dead process. If several processes find the same lock of a dead process, only one
   * of them replaces it.
   */
  #setAside(dead: string): void {
    const aside = `${this.#lock}.${process.pid}.dead`;
    try {
      renameSync(this.#lock, aside);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return;
      throw error;
    }
    // If the content differs, another process was faster, and the rename removed its lock. Restore that lock.
    if (textOf(aside) !== dead) linked(aside, this.#lock);
    rmSync(aside, { force: true });
  }

  /** Tries to create the lock. Returns false if another process was faster. */
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

  /** Writes the session to the file. Throws the file system's errors. */
  write({ id, password }: SessionTicket): void {
    const remembered: RememberedSession = { session: String(id), password: password.toString('base64') };
    const next = `${this.#path}.next`;
    writeFileSync(next, JSON.stringify(remembered), { mode: 0o600 });
    renameSync(next, this.#path);
  }

  /** Releases the lock. Removes the file if the session has ended. Throws the file system's errors. */
  close(ended: boolean): void {
    heldHere.delete(this.#lock);
    if (ended) rmSync(this.#path, { force: true });
    rmSync(this.#lock, { force: true });
  }
}

/** Returns the text of a file. Returns null if there is no such file. */
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
 * Creates a file by linking a complete one, so the name never refers to partial content. Returns false if the
 * name is taken.
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
