/**
 * A workload that consists of one foreground process. If the process ends on its own, the policy decides
 * whether it is restarted. The leadership and its fencing token remain the same after a restart. The end of
 * the process is always reported.
 *
 * Not promised: that other nodes notice a failing workload before the restarts are used up. Until then, the
 * node remains the leader.
 */
import { Listeners } from '../listeners.js';
import type { Logger } from '../log.js';
import type { Clock } from '../ports/clock.js';
import type {
  HookContext,
  HookResult,
  HookRun,
  Phase,
  Workload,
  WorkloadEnd,
  WorkloadLease,
} from '../ports/workload.js';
import { Alarm } from './alarm.js';
import { logOf } from './outcomes.js';

/** Policies for a process that ends on its own. `on-failure` restarts it unless its exit code is 0. */
export const restartPolicies = ['no', 'on-failure', 'always'] as const;
export type RestartPolicy = (typeof restartPolicies)[number];

/** End of a process: its exit code or signal, and the error. */
export interface CommandEnd {
  readonly exitCode: number | null;
  /** Name of the signal that ended the process. Null if no signal did. */
  readonly signal: string | null;
  /** One-line description of the error. Null if the process succeeded. */
  readonly error: string | null;
}

export interface RestartingWorkloadOptions {
  /** Workload that runs the process as its takeover. */
  readonly workload: Workload;
  readonly policy: RestartPolicy;
  /**
   * Number of consecutive failures that are tolerated. After each of them, the process is restarted. After
   * one more failure, the leadership must end.
   */
  readonly restartLimit: number;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Called when the process has ended on its own and must not run again. After a failure, the claim is
   * released before this call, so the group already knows about the failure.
   */
  onFinished(end: CommandEnd): void;
  /**
   * Called when a leadership in which the process ran has ended. Not called if the process itself caused the
   * end. `end` is null if it is unknown how the process ended.
   */
  onStopped(end: CommandEnd | null): void;
}

const firstPauseMs = 250;
const longestPauseMs = 10_000;
/** Duration of a run after which earlier failures no longer count. */
const stableMs = 60_000;

interface RunningCommand {
  readonly takeover: HookContext;
  /** Whether the process has run at least once. */
  hasRun: boolean;
  startedAtMs: number;
  failures: number;
  /** Number of consecutive restarts. */
  restarts: number;
  /** Whether the leadership is ending because of the process. */
  finished: boolean;
  /** Whether the process is being stopped. If so, any further report about it is outdated. */
  ending: boolean;
}

export class RestartingWorkload implements Workload {
  readonly #options: RestartingWorkloadOptions;
  readonly #restart: Alarm;
  readonly #listeners: Listeners<WorkloadEnd>;
  readonly #patient = new WeakMap<HookContext, HookContext>();
  #leadership: RunningCommand | null = null;
  /** End of the process, if it has not been reported yet. Null otherwise. */
  #finished: CommandEnd | null = null;

  constructor(options: RestartingWorkloadOptions) {
    this.#options = options;
    this.#listeners = new Listeners(options.log, 'the workload');
    this.#restart = new Alarm(options.clock);
    options.workload.onEnd((end) => this.#ended(end));
  }

  has(phase: Phase): boolean {
    return this.#options.workload.has(phase);
  }

  run(context: HookContext): HookRun {
    const { workload } = this.#options;
    if (context.phase === 'takeover') return this.#takeOver(context);
    if (context.phase !== 'release') return workload.run(context);
    const running = this.#endLeadership();
    const run = workload.run(this.#withPatience(context));
    void run.outcome.then((outcome) => {
      if (outcome.provenDead) this.#over(running, endOf(outcome));
    });
    return run;
  }

  holdLease(lease: WorkloadLease, release: HookContext): void {
    this.#options.workload.holdLease(lease, this.#withPatience(release));
  }

  endLeadership(): void {
    this.#restart.clear();
    this.#options.workload.endLeadership();
    this.#notifyFinished();
  }

  onEnd(listener: (end: WorkloadEnd) => void): () => void {
    return this.#listeners.add(listener);
  }

  close(): Promise<boolean> {
    this.#restart.clear();
    this.#notifyFinished();
    return this.#options.workload.close();
  }

  /**
   * Returns the release with a longer grace time. The workload may take as long to stop as a release may
   * take.
   */
  #withPatience(release: HookContext): HookContext {
    const known = this.#patient.get(release);
    if (known !== undefined) return known;
    const patient = { ...release, graceMs: Math.max(release.graceMs, release.timeoutMs) };
    this.#patient.set(release, patient);
    return patient;
  }

  #takeOver(takeover: HookContext): HookRun {
    const running: RunningCommand = {
      takeover,
      hasRun: false,
      startedAtMs: 0,
      failures: 0,
      restarts: 0,
      finished: false,
      ending: false,
    };
    this.#leadership = running;
    const run = this.#start(running);
    void run.outcome.then((outcome) => {
      // If the supervisor failed before it started the command, the command itself has not failed.
      const cannotStart = outcome.result === 'failed' && outcome.command !== null;
      if (cannotStart && this.#options.policy === 'no') this.#finish(running, outcome);
    });
    return run;
  }

  #start(running: RunningCommand): HookRun {
    const { workload, clock } = this.#options;
    running.startedAtMs = clock.monotonicMs();
    const run = workload.run(running.takeover);
    void run.outcome.then(({ result }) => {
      if (result === 'ok') running.hasRun = true;
    });
    return run;
  }

  #ended(end: WorkloadEnd): void {
    const running = this.#leadership;
    if (end.cause === 'workload-ended') {
      if (running !== null) this.#endedByItself(running, end.workload);
      return;
    }
    this.#endLeadership();
    this.#listeners.notify(end);
    this.#over(running, end.cause === 'lease-ended' ? endOf(end.release) : null);
  }

  #endedByItself(running: RunningCommand, outcome: HookResult): void {
    if (running.ending) return;
    const { policy, restartLimit, clock } = this.#options;
    const log = logOf(this.#options.log, running.takeover);
    const failed = outcome.result !== 'ok';
    if (policy === 'no' || (policy === 'on-failure' && !failed)) {
      this.#finish(running, outcome);
      // A workload that has finished its work has not failed. In this case, the node leaves the group.
      if (failed) this.#listeners.notify({ cause: 'workload-ended', workload: outcome });
      else this.#notifyFinished();
      return;
    }
    if (clock.monotonicMs() - running.startedAtMs >= stableMs) running.failures = running.restarts = 0;
    if (failed) running.failures += 1;
    if (!outcome.provenDead || running.failures > restartLimit) {
      log.error({ failures: running.failures }, 'the workload keeps failing: handing leadership over');
      running.finished = true;
      this.#listeners.notify({ cause: 'workload-ended', workload: outcome });
      return;
    }
    const pauseMs = Math.min(firstPauseMs * 2 ** running.restarts, longestPauseMs);
    running.restarts += 1;
    log.warn({ pauseMs, failures: running.failures }, `restarting the workload in ${pauseMs} ms`);
    this.#restart.set(clock.monotonicMs() + pauseMs, () => this.#startAgain(running));
  }

  #startAgain(running: RunningCommand): void {
    void this.#start(running).outcome.then((outcome) => {
      if (outcome.result === 'failed') this.#endedByItself(running, outcome);
    });
  }

  #endLeadership(): RunningCommand | null {
    this.#restart.clear();
    if (this.#leadership !== null) this.#leadership.ending = true;
    return this.#leadership;
  }

  #finish(running: RunningCommand, outcome: HookResult): void {
    running.finished = true;
    this.#finished = endOf(outcome);
  }

  #notifyFinished(): void {
    const end = this.#finished;
    this.#finished = null;
    if (end !== null) this.#options.onFinished(end);
  }

  #over(running: RunningCommand | null, end: CommandEnd | null): void {
    if (running === null || running !== this.#leadership) return;
    this.#leadership = null;
    const known = end?.exitCode != null || end?.signal != null ? end : null;
    if ((running.hasRun || known !== null) && !running.finished) this.#options.onStopped(known);
  }
}

function endOf({ exitCode, signal, error }: HookResult): CommandEnd {
  return { exitCode, signal, error };
}
