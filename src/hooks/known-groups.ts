/**
 * The process groups that an agent knows about. Its supervisor reported them, or the agent found them itself.
 */
import type { Machine } from '../ports/processes.js';
import { endGroup, endGroupsWith } from './process-group.js';

export class KnownGroups {
  readonly #machine: Machine;
  readonly #onGone: (pgid: number) => void;
  readonly #pgids = new Set<number>();

  constructor(machine: Machine, onGone: (pgid: number) => void) {
    this.#machine = machine;
    this.#onGone = onGone;
  }

  get all(): readonly number[] {
    return [...this.#pgids];
  }

  add(pgid: number): void {
    this.#pgids.add(pgid);
  }

  gone(pgid: number): void {
    this.#pgids.delete(pgid);
    this.#onGone(pgid);
  }

  /**
   * Kills all known groups. Also kills every group that contains a process whose environment sets `variable`
   * to one of the `values`. Resolves to true if no process is left. A group that is left is added to the
   * known groups.
   */
  async kill(variable: string, values: readonly string[]): Promise<boolean> {
    const kill = async (pgid: number) => {
      this.add(pgid);
      const dead = await endGroup(this.#machine, pgid, () => 0);
      if (dead) this.gone(pgid);
      return dead;
    };
    const searches = values.map((value) => endGroupsWith(this.#machine, variable, value, kill));
    return (await Promise.all([...this.all.map(kill), ...searches])).every(Boolean);
  }
}
