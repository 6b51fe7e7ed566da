/**
 * What a node does when its role changes: commands (`src/hooks`) or a function of the user's own process.
 *
 * What is promised: runs never overlap and start in the order they were asked for; a release aborts whatever
 * runs or waits before it, so that it is never held up; every outcome settles, none rejects. What is not:
 * that a workload is gone. `provenDead` tells, and only an outcome that has it set may be followed by giving
 * the claim away.
 *
 * All instants (`…AtMs`) are milliseconds of `Clock.monotonicMs`.
 */

/** prepare: elected, while the old leader still leads. takeover and release: begin and end a leadership.
 * fence: make sure that another node's workload is dead. */
export type Phase = 'prepare' | 'takeover' | 'release' | 'fence';

export interface HookContext {
  readonly phase: Phase;
  readonly root: string;
  readonly node: string;
  readonly site: string;
  readonly term: number;
  /** The slot that it is about, 1 the first. */
  readonly slot: number;
  /** How many the group has. */
  readonly slots: number;
  /** Release: the term of the decision that it answers, where there is one. */
  readonly endedByTerm?: number;
  /** Null where this node has no claim: prepare and fence. */
  readonly fencingToken: bigint | null;
  /** One line, for people: why this happens. */
  readonly reason: string;
  readonly previousLeader: string | null;
  readonly previousSite: string | null;
  /** Release: who comes next, when that is known. */
  readonly newLeader?: string | null;
  /** Fence: the node to fence. */
  readonly target?: string;
  /** How long the run may take, from its own start. */
  readonly timeoutMs: number;
  /** Between being told to stop and being killed. */
  readonly graceMs: number;
}

export interface HookResult {
  readonly result: 'ok' | 'failed' | 'timed-out' | 'aborted';
  /** The command's; a release that has none, of a workload in the foreground: how that ended. */
  readonly exitCode: number | null;
  /** Name of the signal that ended the command, e.g. SIGKILL. */
  readonly signal: string | null;
  readonly durationMs: number;
  /** As a person would type it; null where no command is involved. */
  readonly command: string | null;
  /** One line, for people; null when the result is ok. */
  readonly error: string | null;
  /** Last lines written to stdout and stderr, oldest first. */
  readonly outputTail: readonly string[];
  /**
   * Nothing that the run started is left; after a release: nothing that the leadership started. Always false
   * for a takeover that left its workload running.
   */
  readonly provenDead: boolean;
}

export interface HookRun {
  /** Never rejects. */
  readonly outcome: Promise<HookResult>;
  /** Tells the run to stop now and kills it after the grace time, or at `killAtMs` if that is sooner. Calling
   * it again can only bring the kill forward; after the end it does nothing. */
  abort(reason: string, killAtMs?: number): void;
}

export interface WorkloadLease {
  /** Unrenewed at this instant, the workload releases by itself. */
  readonly releaseAtMs: number;
  /** From this instant on nothing of the leadership lives. */
  readonly endsAtMs: number;
}

/** The leadership ended, or has to, though nobody asked. */
export type WorkloadEnd =
  /**
   * The lease was not renewed in time, or this process stood still so long. Runs in progress were aborted,
   * and the release has been run: this is its outcome. `leaseLeftMs`: how long the lease had to go when it
   * had ended; negative: it had ended before; null where that is not known.
   */
  | {
      readonly cause: 'lease-ended';
      readonly release: HookResult;
      readonly leaseLeftMs: number | null;
    }
  /** The workload ended by itself, and how; what a hook left in the background is not told of.
   * The release is still to be run. */
  | { readonly cause: 'workload-ended'; readonly workload: HookResult }
  /** What guards the leadership was lost (its process died), and the workload has been killed.
   * The release is still to be run. */
  | { readonly cause: 'guard-lost'; readonly reason: string; readonly provenDead: boolean };

export interface Workload {
  /** False: `run` would succeed at once without doing anything. */
  has(phase: Phase): boolean;

  /** A takeover should be preceded by `holdLease`, so that there is no instant without a guard. */
  run(context: HookContext): HookRun;

  /**
   * While a leadership lasts: the lease in force, again at every renewal. `release` is what to run when it
   * passes unrenewed; this works also when this process is frozen or dead, as far as the implementation says
   * so. A lease once passed is not revived: after `lease-ended` the next call begins a new leadership.
   */
  holdLease(lease: WorkloadLease, release: HookContext): void;

  /** The leadership is over and released: nothing to guard. */
  endLeadership(): void;

  /**
   * The returned function unsubscribes. A lease that ends by itself is reported before the outcomes of the
   * runs that it aborted.
   */
  onEnd(listener: (end: WorkloadEnd) => void): () => void;

  /**
   * Aborts what runs, kills what is left and lets go of every resource. False when something of it may still
   * live. Never rejects.
   */
  close(): Promise<boolean>;
}
