/**
 * The slate: a few bytes of memory that an agent and its guardian share. The agent writes its lease on it at every renewal,
 * which wakes nobody; the guardian looks when it has to know. It holds nothing but the newest lease, so that it cannot
 * fill up, and there is nothing to catch up with, however long either of them stands still.
 *
 * A lease is written beside the one before it, with a sum: one that is read while it is being written does not count.
 */
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import type { TenureLease } from '../hooks/messages.js';

/** A file system in memory, on Linux. One on a disk would not do: a write to it may be held up. */
const memory = '/dev/shm';

const fields = 5;
const slots = 2;
const slotBytes = fields * Float64Array.BYTES_PER_ELEMENT;

export class Slate {
  readonly #fd: number;
  readonly #numbers = new Float64Array(slots * fields);
  #written = 0;
  /** What was read last; it stays known when the slate is closed. */
  #read: TenureLease | null = null;
  #isClosed = false;

  /** The other end of one that a parent made. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Null where there is no memory to be shared. Nobody else can open it: it has no name any more. */
  static create(): Slate | null {
    const path = `${memory}/petrel-${process.pid}-${process.hrtime.bigint()}`;
    try {
      const slate = new Slate(openSync(path, 'wx+', 0o600));
      try {
        unlinkSync(path);
        // All of it is there from now on, so that no later write can find the memory full.
        writeSync(slate.#fd, slate.#numbers, 0, slots * slotBytes, 0);
      } catch (error) {
        slate.close();
        throw error;
      }
      return slate;
    } catch {
      return null;
    }
  }

  /** For a child to inherit. */
  get fd(): number {
    return this.#fd;
  }

  write({ tenure, releaseAtMs, endsAtMs }: TenureLease): void {
    this.#written += 1;
    const sum = this.#written + tenure + releaseAtMs + endsAtMs;
    const record = Float64Array.of(this.#written, tenure, releaseAtMs, endsAtMs, sum);
    writeSync(this.#fd, record, 0, slotBytes, (this.#written % slots) * slotBytes);
  }

  /** The newest lease; null when none was written. */
  read(): TenureLease | null {
    if (this.#isClosed) return this.#read;
    readSync(this.#fd, this.#numbers, 0, slots * slotBytes, 0);
    let newest = 0;
    for (let at = 0; at < slots * fields; at += fields) {
      const written = this.#number(at);
      const lease = {
        tenure: this.#number(at + 1),
        releaseAtMs: this.#number(at + 2),
        endsAtMs: this.#number(at + 3),
      };
      const sum = written + lease.tenure + lease.releaseAtMs + lease.endsAtMs;
      if (written <= newest || sum !== this.#number(at + 4)) continue;
      newest = written;
      this.#read = lease;
    }
    return this.#read;
  }

  close(): void {
    if (this.#isClosed) return;
    this.read();
    this.#isClosed = true;
    closeSync(this.#fd);
  }
  #number(at: number): number {
    return this.#numbers[at] ?? 0;
  }
}
