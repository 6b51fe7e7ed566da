/**
 * Duty whose workload is one process in the foreground: started again when it ends by itself, as the policy says,
 * within the tenure and under its fencing token; and told of, however it ends.
 *
 * Not promised: that a workload which goes on failing is noticed by anybody but its node before the restarts are
 * used up. Until then the node leads.
 */
import { Listeners } from '../listeners.js';
import type { Logger } from '../log.js';
import type { Clock } from '../ports/clock.js';
import type { Duty, DutyContext, DutyEnd, DutyLease, DutyOutcome, DutyRun, Phase } from '../ports/duty.js';
import { Alarm } from './alarm.js';
import { logOf } from './outcomes.js';

/** What to do when the workload ends by itself. on-failure: unless its exit code is 0. */
export const restartPolicies = ['no', 'on-failure', 'always'] as const;
export type RestartPolicy = (typeof restartPolicies)[number];

/** How a process ended. */
export interface WorkloadEnd {
  readonly exitCode: number | null;
  /** Name of the signal that ended it. */
  readonly signal: string | null;
  /** One line; null when it ended well. */
  readonly error: string | null;
}

export interface RestartingDutyOptions {
  /** Runs the workload as its takeover. */
  readonly duty: Duty;
  readonly policy: RestartPolicy;
  /** So often it is restarted after failures in a row; then the tenure has to end. */
  readonly restartLimit: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** It ended by itself, and is not to be run again. If it failed, told once its claim has been given away, so that the
   * group knows of the failure. */
  onFinished(end: WorkloadEnd): void;
  /** A tenure in which it ran is over, and why was not the workload. Null: how it ended is not known. */
  onStopped(end: WorkloadEnd | null): void;
}

const firstPauseMs = 250;
const longestPauseMs = 10_000;
/** What has run for so long has not failed in a row with what failed before. */
const stableMs = 60_000;

interface Tenure {
  readonly takeover: DutyContext;
  /** It has run at least once. */
  hasRun: boolean;
  startedAtMs: number;
  failures: number;
  /** Ends in a row, after which it was started again. */
  restarts: number;
  /** Why it ends is the workload. */
  finished: boolean;
  /** It is being ended: what is heard of the workload from now on is old. */
  ending: boolean;
}

export class RestartingDuty implements Duty {
  readonly #options: RestartingDutyOptions;
  readonly #restart: Alarm;
  readonly #listeners: Listeners<DutyEnd>;
  readonly #patient = new WeakMap<DutyContext, DutyContext>();
  #tenure: Tenure | null = null;
  /** To be told. */
  #finished: WorkloadEnd | null = null;

  constructor(options: RestartingDutyOptions) {
    this.#options = options;
    this.#listeners = new Listeners(options.log, 'the workload');
    this.#restart = new Alarm(options.clock);
    options.duty.onEnd((end) => this.#ended(end));
  }

  has(phase: Phase): boolean {
    return this.#options.duty.has(phase);
  }

  run(context: DutyContext): DutyRun {
    const { duty } = this.#options;
    if (context.phase === 'takeover') return this.#takeOver(context);
    if (context.phase !== 'release') return duty.run(context);
    const tenure = this.#endTenure();
    const run = duty.run(this.#withPatience(context));
    void run.outcome.then((outcome) => {
      if (outcome.provenDead) this.#over(tenure, endOf(outcome));
    });
    return run;
  }

  holdLease(lease: DutyLease, release: DutyContext): void {
    this.#options.duty.holdLease(lease, this.#withPatience(release));
  }

  letGo(): void {
    this.#restart.clear();
    this.#options.duty.letGo();
    this.#tellFinished();
  }

  onEnd(listener: (end: DutyEnd) => void): () => void {
    return this.#listeners.add(listener);
  }

  close(): Promise<boolean> {
    this.#restart.clear();
    this.#tellFinished();
    return this.#options.duty.close();
  }

  /** A workload that is told to stop has the time that a release may take, instead of the grace time. */
  #withPatience(release: DutyContext): DutyContext {
    const known = this.#patient.get(release);
    if (known !== undefined) return known;
    const patient = { ...release, graceMs: Math.max(release.graceMs, release.timeoutMs) };
    this.#patient.set(release, patient);
    return patient;
  }

  #takeOver(takeover: DutyContext): DutyRun {
    const tenure: Tenure = {
      takeover,
      hasRun: false,
      startedAtMs: 0,
      failures: 0,
      restarts: 0,
      finished: false,
      ending: false,
    };
    this.#tenure = tenure;
    const run = this.#start(tenure);
    void run.outcome.then((outcome) => {
      // Not where whoever was to start it failed.
      const cannotStart = outcome.result === 'failed' && outcome.command !== null;
      if (cannotStart && this.#options.policy === 'no') this.#finish(tenure, outcome);
    });
    return run;
  }

  #start(tenure: Tenure): DutyRun {
    const { duty, clock } = this.#options;
    tenure.startedAtMs = clock.monotonicMs();
    const run = duty.run(tenure.takeover);
    void run.outcome.then(({ result }) => {
      if (result === 'ok') tenure.hasRun = true;
    });
    return run;
  }

  #ended(end: DutyEnd): void {
    const tenure = this.#tenure;
    if (end.cause === 'workload-ended') {
      if (tenure !== null) this.#endedByItself(tenure, end.workload);
      return;
    }
    this.#endTenure();
    this.#listeners.notify(end);
    this.#over(tenure, end.cause === 'lease-ended' ? endOf(end.release) : null);
  }

  #endedByItself(tenure: Tenure, outcome: DutyOutcome): void {
    if (tenure.ending) return;
    const { policy, restartLimit, clock } = this.#options;
    const log = logOf(this.#options.log, tenure.takeover);
    const failed = outcome.result !== 'ok';
    if (policy === 'no' || (policy === 'on-failure' && !failed)) {
      this.#finish(tenure, outcome);
      // A workload that has done its work is nobody's failure: the node leaves, and that is all.
      if (failed) this.#listeners.notify({ cause: 'workload-ended', workload: outcome });
      else this.#tellFinished();
      return;
    }
    if (clock.monotonicMs() - tenure.startedAtMs >= stableMs) tenure.failures = tenure.restarts = 0;
    if (failed) tenure.failures += 1;
    if (!outcome.provenDead || tenure.failures > restartLimit) {
      log.error({ failures: tenure.failures }, 'the workload goes on failing: leadership is handed on');
      tenure.finished = true;
      this.#listeners.notify({ cause: 'workload-ended', workload: outcome });
      return;
    }
    const pauseMs = Math.min(firstPauseMs * 2 ** tenure.restarts, longestPauseMs);
    tenure.restarts += 1;
    log.warn({ pauseMs, failures: tenure.failures }, `starting the workload again in ${pauseMs} ms`);
    this.#restart.set(clock.monotonicMs() + pauseMs, () => this.#startAgain(tenure));
  }

  #startAgain(tenure: Tenure): void {
    void this.#start(tenure).outcome.then((outcome) => {
      if (outcome.result === 'failed') this.#endedByItself(tenure, outcome);
    });
  }

  #endTenure(): Tenure | null {
    this.#restart.clear();
    if (this.#tenure !== null) this.#tenure.ending = true;
    return this.#tenure;
  }

  #finish(tenure: Tenure, outcome: DutyOutcome): void {
    tenure.finished = true;
    this.#finished = endOf(outcome);
  }

  #tellFinished(): void {
    const end = this.#finished;
    this.#finished = null;
    if (end !== null) this.#options.onFinished(end);
  }

  #over(tenure: Tenure | null, end: WorkloadEnd | null): void {
    if (tenure === null || tenure !== this.#tenure) return;
    this.#tenure = null;
    const known = end?.exitCode != null || end?.signal != null ? end : null;
    if ((tenure.hasRun || known !== null) && !tenure.finished) this.#options.onStopped(known);
  }
}

function endOf({ exitCode, signal, error }: DutyOutcome): WorkloadEnd {
  return { exitCode, signal, error };
}
