/** Runs the prepare hook once for each decision that elects this node. */
import type { HookResult, HookRun } from '../../ports/workload.js';
import type { DecisionKnown } from '../elector/slot-decision.js';

export class Preparation {
  #running: DecisionKnown | null = null;
  #doneUnder: DecisionKnown | null = null;

  /** The decision under which the hook last succeeded. Null if it has not succeeded. */
  get doneUnder(): DecisionKnown | null {
    return this.#doneUnder;
  }

  /**
   * Starts the hook, unless it is already running under this decision. If another run starts later, the
   * result of this run is ignored.
   */
  begin(under: DecisionKnown, start: () => HookRun, ended: (result: HookResult) => void): void {
    if (this.#running?.slot === under.slot && this.#running.version === under.version) return;
    this.#running = under;
    void start().outcome.then((result) => {
      if (this.#running !== under) return;
      this.#running = null;
      if (result.result === 'ok') this.#doneUnder = under;
      ended(result);
    });
  }
}
