/**
 * The running process groups, and the leadership to which each of them belongs. The id of a group is
 * forgotten as soon as the group is gone, because the system may reuse the id for other processes.
 */
import type { Machine } from '../ports/processes.js';
import { Alarm } from './alarm.js';
import { endGroup } from './process-group.js';

const sweepIntervalMs = 5000;
const huntIntervalMs = 50;

export class GroupRegister {
  readonly #machine: Machine;
  readonly #leaderships = new Map<number, number>();
  readonly #onGone: (pgid: number) => void;
  readonly #sweep: Alarm;
  /** Leadership whose groups may stay alive. All other groups are killed, except `#running`. */
  #living = 0;
  #running: number | null = null;

  constructor(machine: Machine, onGone: (pgid: number) => void) {
    this.#machine = machine;
    this.#onGone = onGone;
    this.#sweep = new Alarm(machine.clock);
  }

  get size(): number {
    return this.#leaderships.size;
  }

  add(pgid: number, leadership: number): void {
    this.#leaderships.set(pgid, leadership);
    this.#running = pgid;
    this.#arm(sweepIntervalMs);
  }

  /** Records that the group's command has ended. `provenDead` is true if the whole group has ended. */
  settled(pgid: number, provenDead: boolean): void {
    if (this.#running === pgid) this.#running = null;
    if (provenDead) this.#gone(pgid);
  }

  /** Registers a group that an earlier supervisor left behind. */
  adopt(pgid: number): void {
    this.#leaderships.set(pgid, 0);
    this.#arm(0);
  }

  /** From now on, lets only the groups of this leadership stay alive. */
  spare(leadership: number): void {
    this.#living = leadership;
    this.#arm(0);
  }

  kill(which: (pgid: number) => boolean): void {
    for (const pgid of this.#leaderships.keys()) {
      if (which(pgid)) this.#machine.processes.signalGroup(pgid, 'SIGKILL');
    }
  }

  /**
   * Ends the groups of all leaderships that `which` selects, at the same time. Resolves to true if none of
   * their processes is left.
   */
  async end(which: (leadership: number) => boolean, killAtMs: () => number): Promise<boolean> {
    const ends = [...this.#leaderships].map(async ([pgid, leadership]) => {
      if (!which(leadership) || pgid === this.#running) return true;
      const dead = await endGroup(this.#machine, pgid, killAtMs);
      if (dead) this.#gone(pgid);
      return dead;
    });
    return (await Promise.all(ends)).every(Boolean);
  }

  #gone(pgid: number): void {
    if (this.#leaderships.delete(pgid)) this.#onGone(pgid);
  }

  #look(): void {
    const { processes } = this.#machine;
    let hunting = false;
    for (const [pgid, leadership] of this.#leaderships) {
      if (pgid === this.#running) continue;
      const outlaw = leadership !== this.#living;
      if (outlaw) processes.signalGroup(pgid, 'SIGKILL');
      if (outlaw ? !processes.groupIsAlive(pgid) : !processes.groupExists(pgid)) this.#gone(pgid);
      else hunting ||= outlaw;
    }
    if (this.#leaderships.size > 0) this.#arm(hunting ? huntIntervalMs : sweepIntervalMs);
  }

  #arm(afterMs: number): void {
    const atMs = this.#machine.clock.monotonicMs() + afterMs;
    if (atMs < this.#sweep.atMs) this.#sweep.set(atMs, () => this.#look());
  }
}
