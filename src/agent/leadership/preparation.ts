/** Runs the prepare hook, once for each decision that elects this node. */
import type { FailureDetail } from '../../model/znodes.js';
import type { HookContext, Workload } from '../../ports/workload.js';
import type { DecisionKnown } from '../elector/slot-decision.js';
import { detailOf } from './failure-detail.js';

export class Preparation {
  readonly #workload: Workload;
  readonly #wake: () => void;
  #running: DecisionKnown | null = null;
  #doneUnder: DecisionKnown | null = null;

  /** Calls `wake` when a hook has ended. */
  constructor({ workload, wake }: { readonly workload: Workload; readonly wake: () => void }) {
    this.#workload = workload;
    this.#wake = wake;
  }

  /** Decision under which the hook last succeeded. Null if it never has. */
  get doneUnder(): DecisionKnown | null {
    return this.#doneUnder;
  }

  /** Starts the hook, unless it is already running under this decision. The result of an older run is ignored. */
  begin(under: DecisionKnown, context: () => HookContext, onFailed: (detail: FailureDetail) => void): void {
    if (this.#running?.slot === under.slot && this.#running.version === under.version) return;
    this.#running = under;
    const run = this.#workload.run(context());
    void run.outcome.then((outcome) => {
      if (this.#running !== under) return;
      this.#running = null;
      if (outcome.result === 'ok') this.#doneUnder = under;
      else onFailed(detailOf('prepare', outcome));
      this.#wake();
    });
  }
}
