/** Executes a plan, one round after the other. Each round ends with a calm period. */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '../../src/errors.js';
import type { FaultReporter, Taken } from './faults/targeted-fault.js';
import { targetedFault } from './faults.js';
import type { Journal } from './journal.js';
import type { Fault, Round } from './plan.js';
import type { World } from './world.js';

export class Nemesis {
  readonly #world: World;
  readonly #journal: Journal;
  readonly #signal: AbortSignal;

  /** When `signal` is aborted, the nemesis reverts the current faults and starts no more. */
  constructor(world: World, journal: Journal, signal: AbortSignal) {
    this.#world = world;
    this.#journal = journal;
    this.#signal = signal;
  }

  /** Executes a round. Resolves after the calm period, even if the group did not recover in time. */
  async round({ round, faults, calmMs }: Round): Promise<void> {
    const taken: Taken = new Set();
    await Promise.all(
      faults.map((fault, index) => this.#fault(fault, round, `${round}.${index + 1}`, taken)),
    );
    if (this.#signal.aborted) return;
    await this.#try(() => this.#world.heal());
    this.#journal.nemesis({ event: 'calm', round });
    if (await this.#try(() => this.#world.quiet())) this.#journal.nemesis({ event: 'quiet', round });
    await this.#wait(calmMs);
  }

  async #fault(fault: Fault, round: number, id: string, taken: Taken): Promise<void> {
    await this.#wait(fault.afterMs);
    if (this.#signal.aborted) return;
    const { kind } = fault;
    const reporter = {
      crash: (what: string) => this.#journal.nemesis({ event: 'crash', what }),
      note: (what: string) => this.#journal.nemesis({ event: 'note', what: `${id} ${kind}: ${what}` }),
      http: (answer: Parameters<FaultReporter['http']>[0]) =>
        this.#journal.nemesis({ event: 'http', ...answer }),
    };
    await this.#try(async () => {
      const targeted = await targetedFault(fault, this.#world, taken, reporter);
      if (targeted === null) {
        reporter.note('there was nobody to do it to');
        return;
      }
      const { detail, ensemble = false, blocks = false, silences = false } = targeted;
      const nodes = [...targeted.nodes];
      const slots = targeted.slots && [...targeted.slots];
      const does = { nodes, ensemble, blocks, silences, slots };
      this.#journal.nemesis({ event: 'begin', id, round, kind, detail, ...does });
      try {
        await targeted.begin();
        await this.#wait(fault.lastsMs);
      } finally {
        await targeted.end?.();
        this.#journal.nemesis({ event: 'end', id });
      }
    });
  }

  /**
   * Runs an action. If it fails, records the failure as a problem and returns false, so that the run
   * continues.
   */
  async #try(action: () => Promise<void>): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      this.#journal.nemesis({ event: 'problem', what: errorMessage(error) });
      return false;
    }
  }

  async #wait(lengthMs: number): Promise<void> {
    await sleep(lengthMs, undefined, { signal: this.#signal }).catch(() => undefined);
  }
}
