/**
 * The shared lease: a few bytes of memory that an agent and its guardian share. The agent writes its lease on
 * it at every renewal, which wakes nobody; the guardian looks when it has to know. Of each group it holds
 * nothing but the newest lease, so that there is nothing to catch up with, however long either of them stands
 * still.
 *
 * A lease is written beside the one before it, with a sum: one that is read while it is being written does
 * not count.
 */
import { closeSync, fstatSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import type { LeadershipLease } from '../hooks/messages.js';

/** A file system in memory, on Linux. One on a disk would not do: a write to it may be held up. */
const memory = '/dev/shm';

const fields = 5;
const slots = 2;
const slotBytes = fields * Float64Array.BYTES_PER_ELEMENT;
const groupBytes = slots * slotBytes;

export class SharedLease {
  readonly #fd: number;
  readonly #numbers = new Float64Array(slots * fields);
  readonly #written = new Map<number, number>();
  /** What was read last, by group; it stays known when the shared lease is closed. */
  readonly #read = new Map<number, LeadershipLease>();
  #isClosed = false;

  /** The other end of one that a parent made. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Null where there is no memory to be shared. Nobody else can open it: it has no name any more. */
  static create(): SharedLease | null {
    const path = `${memory}/petrel-${process.pid}-${process.hrtime.bigint()}`;
    try {
      const sharedLease = new SharedLease(openSync(path, 'wx+', 0o600));
      try {
        unlinkSync(path);
        // The first group's part is there from now on, so that no later write of it can find the memory full.
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

  /** For a child to inherit. */
  get fd(): number {
    return this.#fd;
  }

  /** False where there is no memory left for that group. */
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

  /** The newest lease of a group; null when none was written. */
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
