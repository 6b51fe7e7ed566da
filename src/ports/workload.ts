/**
 * The workload: what a node does when its role changes. A workload runs commands (`src/hooks`) or a function
 * in the user's own process.
 *
 * Promised: runs never overlap, and they start in the order in which they were requested. A release aborts
 * every run that is in progress or waiting ahead of it, so that the release is never delayed. Every outcome
 * settles, and none rejects.
 *
 * Not promised: that a workload is gone. `provenDead` reports whether it is. The claim may be released only
 * after an outcome with `provenDead` set.
 *
 * All instants (`…AtMs`) are in milliseconds, as returned by `Clock.monotonicMs`.
 */

/**
 * Phase of a handover:
 * - prepare: the node is elected, and the old leader still leads.
 * - takeover: begins a leadership.
 * - release: ends a leadership.
 * - fence: makes sure that another node's workload is dead.
 */
export type Phase = 'prepare' | 'takeover' | 'release' | 'fence';

export interface HookContext {
  readonly phase: Phase;
  readonly root: string;
  readonly node: string;
  readonly site: string;
  readonly term: number;
  /** The slot for which the hook runs. The first slot is 1. */
  readonly slot: number;
  /** Number of slots in the group. */
  readonly slots: number;
  /** For a release, the term of the decision that caused it, if there is one. */
  readonly endedByTerm?: number;
  /**
   * Fencing token of this node's claim. Null during prepare and fence, because the node has no claim in these
   * phases.
   */
  readonly fencingToken: bigint | null;
  /** Why the hook runs, as one line for display. */
  readonly reason: string;
  readonly previousLeader: string | null;
  readonly previousSite: string | null;
  /** For a release, the next leader, if known. */
  readonly newLeader?: string | null;
  /** For a fence, the node to fence. */
  readonly target?: string;
  /** Time limit of the run, measured from the start of the run. */
  readonly timeoutMs: number;
  /** Time between the stop signal and the kill. */
  readonly graceMs: number;
}

export interface HookResult {
  readonly result: 'ok' | 'failed' | 'timed-out' | 'aborted';
  /** The command's exit code. For a release without a command, the exit code of the foreground workload. */
  readonly exitCode: number | null;
  /** Name of the signal that ended the command, such as SIGKILL. */
  readonly signal: string | null;
  readonly durationMs: number;
  /** The command line in the form in which an operator would type it. Null if no command is involved. */
  readonly command: string | null;
  /** What went wrong, as one line for display. Null if the result is ok. */
  readonly error: string | null;
  /** The last lines written to stdout and stderr, oldest first. */
  readonly outputTail: readonly string[];
  /**
   * Whether every process that the run started is proven to be gone. After a release, this covers all
   * processes that the leadership started. Always false for a takeover that left its workload running.
   */
  readonly provenDead: boolean;
}

export interface HookRun {
  /** Result of the run. Never rejects. */
  readonly outcome: Promise<HookResult>;
  /**
   * Requests that the run stop now. Kills it after the grace time, or at `killAtMs` if that is sooner. A
   * second call can only make the kill earlier. After the run has ended, a call does nothing.
   */
  abort(reason: string, killAtMs?: number): void;
}

export interface WorkloadLease {
  /** Instant at which the workload runs the release by itself if the lease has not been renewed. */
  readonly releaseAtMs: number;
  /** Instant after which no process of the leadership may be running any more. */
  readonly endsAtMs: number;
}

/** Reports that the leadership ended, or must end, although no release was requested. */
export type WorkloadEnd =
  /**
   * The lease was not renewed by its deadline, or this process was stalled past that deadline. Runs in
   * progress were aborted. The release has already run, and `release` is its outcome. `leaseLeftMs` is the
   * remaining time of the lease when the release ended. It is negative if the lease had already ended, and
   * null if unknown.
   */
  | {
      readonly cause: 'lease-ended';
      readonly release: HookResult;
      readonly leaseLeftMs: number | null;
    }
  /**
   * The workload ended by itself, with this outcome. If a hook left a process in the background, the end of
   * that process is not reported. The release must still be run.
   */
  | { readonly cause: 'workload-ended'; readonly workload: HookResult }
  /**
   * The process that guards the leadership (guardian or supervisor) has died, and the workload has been
   * killed. The release must still be run.
   */
  | { readonly cause: 'guard-lost'; readonly reason: string; readonly provenDead: boolean };

export interface Workload {
  /**
   * Whether the phase has anything to run. If it does not, `run` succeeds immediately without doing anything.
   */
  has(phase: Phase): boolean;

  /** Starts a run. Call `holdLease` before a takeover, so that the takeover is never unguarded. */
  run(context: HookContext): HookRun;

  /**
   * Sets the current lease. Call this at every renewal during a leadership. If the lease is not renewed in
   * time, the workload runs `release`. The release runs even if this process is frozen or dead, to the extent
   * that the implementation promises this. A lease that was not renewed in time is not revived. After
   * `lease-ended`, the next call begins a new leadership.
   */
  holdLease(lease: WorkloadLease, release: HookContext): void;

  /**
   * Ends the protection of the leadership. Call this only after the leadership has ended and has been
   * released.
   */
  endLeadership(): void;

  /**
   * Subscribes to unrequested ends of a leadership. The returned function unsubscribes. If a lease was not
   * renewed, its end is reported first. The outcomes of the runs that were aborted for this reason follow.
   */
  onEnd(listener: (end: WorkloadEnd) => void): () => void;

  /**
   * Aborts every run, kills all remaining processes, and frees every resource. Returns false if a process may
   * still be running. Never rejects.
   */
  close(): Promise<boolean>;
}
