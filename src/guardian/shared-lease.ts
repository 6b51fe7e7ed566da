/**
 * The shared lease: a few bytes of memory that an agent and its guardian share. The agent writes its lease
 * there at every renewal, which wakes no process. The guardian looks when it has to know. The memory contains
 * only the newest lease of each group, so there is nothing to catch up with, however long either process is
 * stalled.
 *
 * A lease is written next to the one before it, with a checksum. A lease that is read while it is being
 * written does not count.
 */
import { closeSync, fstatSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import type { LeadershipLease } from '../hooks/messages.js';

/** A file system in memory, on Linux. A disk is not an alternative, because a write to it may be delayed. */
const memory = '/dev/shm';

const fields = 5;
const slots = 2;
const slotBytes = fields * Float64Array.BYTES_PER_ELEMENT;
const groupBytes = slots * slotBytes;

export class SharedLease {
  readonly #fd: number;
  readonly #numbers = new Float64Array(slots * fields);
  readonly #written = new Map<number, number>();
  /** Last lease read, by group. It remains known after the shared lease is closed. */
  readonly #read = new Map<number, LeadershipLease>();
  #isClosed = false;

  /** Opens the other end of a shared lease that a parent created. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /**
   * Returns null if no memory can be shared. No other process can open it, because it no longer has a name.
   */
  static create(): SharedLease | null {
    const path = `${memory}/petrel-${process.pid}-${process.hrtime.bigint()}`;
    try {
      const sharedLease = new SharedLease(openSync(path, 'wx+', 0o600));
      try {
        unlinkSync(path);
        // Allocates the first group's part now, so no later write of it can find the memory full.
        writeSync(sharedLease.#fd, sharedLease.#numbers, 0, groupBytes, 0);
      } catch (error) {
        sharedLease.close();
        throw error;
      }
      return sharedLease;
    } catch {
      return null;
    }
  }

  /** File descriptor for a child to inherit. */
  get fd(): number {
    return this.#fd;
  }

  /** Returns false if there is no memory left for that group. */
  write(lease: LeadershipLease, group = 0): boolean {
    const { leadership, releaseAtMs, endsAtMs } = lease;
    const written = (this.#written.get(group) ?? 0) + 1;
    const sum = written + leadership + releaseAtMs + endsAtMs;
    const record = Float64Array.of(written, leadership, releaseAtMs, endsAtMs, sum);
    try {
      writeSync(this.#fd, record, 0, slotBytes, group * groupBytes + (written % slots) * slotBytes);
    } catch {
      return false;
    }
    this.#written.set(group, written);
    return true;
  }

  /** Returns the newest lease of a group. Null if none was written. */
  read(group = 0): LeadershipLease | null {
    if (!this.#isClosed) this.#look(group);
    return this.#read.get(group) ?? null;
  }

  close(): void {
    if (this.#isClosed) return;
    const groups = fstatSync(this.#fd).size / groupBytes;
    for (let group = 0; group < groups; group++) this.#look(group);
    this.#isClosed = true;
    closeSync(this.#fd);
  }

  #look(group: number): void {
    this.#numbers.fill(0);
    readSync(this.#fd, this.#numbers, 0, groupBytes, group * groupBytes);
    let newest = 0;
    for (let at = 0; at < slots * fields; at += fields) {
      const written = this.#number(at);
      const lease = {
        leadership: this.#number(at + 1),
        releaseAtMs: this.#number(at + 2),
        endsAtMs: this.#number(at + 3),
      };
      const sum = written + lease.leadership + lease.releaseAtMs + lease.endsAtMs;
      if (written <= newest || sum !== this.#number(at + 4)) continue;
      newest = written;
      this.#read.set(group, lease);
    }
  }

  #number(at: number): number {
    return this.#numbers[at] ?? 0;
  }
}
