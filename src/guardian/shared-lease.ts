/**
 * The shared lease: a few bytes of memory that an agent and its guardian share. The agent writes its lease
 * there at every renewal, without waking any process. The guardian reads the memory only when it needs the
 * newest lease. The memory contains only the newest lease of each group, so there is no backlog, however long
 * either process is stalled.
 *
 * Leases are written to two places in turn, each with a checksum. A lease that is read while it is being
 * written is ignored.
 */
import { closeSync, fstatSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import type { LeadershipLease } from '../hooks/messages.js';

/**
 * Directory of an in-memory file system on Linux. A disk is not an alternative, because a write to a disk may
 * be delayed.
 */
const memory = '/dev/shm';

const fields = 5;
const slots = 2;
const slotBytes = fields * Float64Array.BYTES_PER_ELEMENT;
const groupBytes = slots * slotBytes;

export class SharedLease {
  readonly #fd: number;
  readonly #numbers = new Float64Array(slots * fields);
  readonly #written = new Map<number, number>();
  /** Last lease that was read for each group. It remains available after `close`. */
  readonly #read = new Map<number, LeadershipLease>();
  #isClosed = false;

  /** `fd` is the file descriptor of a shared lease. A child process inherits it from its parent. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /**
   * Creates a shared lease. Returns null if no memory can be shared. The file is unlinked, so no other
   * process can open it.
   */
  static create(): SharedLease | null {
    const path = `${memory}/petrel-${process.pid}-${process.hrtime.bigint()}`;
    try {
      const sharedLease = new SharedLease(openSync(path, 'wx+', 0o600));
      try {
        unlinkSync(path);
        // Allocate the first group's part now, so that no later write to it can fail for lack of memory.
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

  /** Writes a lease. Returns false if there is no memory left for that group. */
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

  /** Returns the newest lease of a group. Returns null if no lease has been written. */
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
