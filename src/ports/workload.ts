/**
 * What a node does when its role changes: it runs commands (`src/hooks`) or a function of the user's own
 * process.
 *
 * Promised: runs never overlap, and start in the order in which they were requested. A release aborts
 * whatever is running or waiting before it, so that it is never delayed. Every outcome settles, and none
 * rejects. Not promised: that a workload is gone. `provenDead` reports that. The claim may be released only
 * after an outcome with `provenDead` set.
 *
 * All instants (`…AtMs`) are milliseconds of `Clock.monotonicMs`.
 */

/**
 * prepare: elected, while the old leader still leads. takeover and release: begin and end a leadership.
 * fence: make sure that another node's workload is dead.
 */
export type Phase = 'prepare' | 'takeover' | 'release' | 'fence';

export interface HookContext {
  readonly phase: Phase;
  readonly root: string;
  readonly node: string;
  readonly site: string;
  readonly term: number;
  /** The slot that it is about, 1 for the first. */
  readonly slot: number;
  /** Number of the group's slots. */
  readonly slots: number;
  /** Release: the term of the decision that caused it, if there is one. */
  readonly endedByTerm?: number;
  /** Null if this node has no claim: prepare and fence. */
  readonly fencingToken: bigint | null;
  /** One line, for display: why this happens. */
  readonly reason: string;
  readonly previousLeader: string | null;
  readonly previousSite: string | null;
  /** Release: the next leader, if known. */
  readonly newLeader?: string | null;
  /** Fence: the node to fence. */
  readonly target?: string;
  /** How long the run may take, from its own start. */
  readonly timeoutMs: number;
  /** Time between the stop signal and the kill. */
  readonly graceMs: number;
}

export interface HookResult {
  readonly result: 'ok' | 'failed' | 'timed-out' | 'aborted';
  /** The command's exit code. For a release without a command, that of the workload in the foreground. */
  readonly exitCode: number | null;
  /** Name of the signal that ended the command, e.g. SIGKILL. */
  readonly signal: string | null;
  readonly durationMs: number;
  /** As an operator would type it. Null if no command is involved. */
  readonly command: string | null;
  /** One line, for display. Null if the result is ok. */
  readonly error: string | null;
  /** Last lines written to stdout and stderr, oldest first. */
  readonly outputTail: readonly string[];
  /**
   * Whether nothing that the run started is left, or after a release, nothing that the leadership started.
   * Always false for a takeover that left its workload running.
   */
  readonly provenDead: boolean;
}

export interface HookRun {
  /** Never rejects. */
  readonly outcome: Promise<HookResult>;
  /**
   * Stops the run now and kills it after the grace time, or at `killAtMs` if that is sooner. Another call can
   * only bring the kill forward. After the end, it does nothing.
   */
  abort(reason: string, killAtMs?: number): void;
}

export interface WorkloadLease {
  /** If the lease is not renewed by this instant, the workload releases by itself. */
  readonly releaseAtMs: number;
  /** From this instant on, nothing of the leadership runs. */
  readonly endsAtMs: number;
}

/** The leadership ended, or must end, although no release was requested. */
export type WorkloadEnd =
  /**
   * The lease was not renewed in time, or this process was stalled for that long. Runs in progress were
   * aborted. `release` is the outcome of the release, which has already run. `leaseLeftMs`: how much of the
   * lease was left when everything had ended. Negative if the lease had already ended. Null if unknown.
   */
  | {
      readonly cause: 'lease-ended';
      readonly release: HookResult;
      readonly leaseLeftMs: number | null;
    }
  /**
   * The workload ended by itself, with this outcome. A process that a hook left in the background is not
   * reported. The release must still be run.
   */
  | { readonly cause: 'workload-ended'; readonly workload: HookResult }
  /**
   * The guardian of the leadership was lost (its process died), and the workload has been killed. The release
   * must still be run.
   */
  | { readonly cause: 'guard-lost'; readonly reason: string; readonly provenDead: boolean };

export interface Workload {
  /**
   * Whether the phase has anything to run. If not, `run` would succeed immediately without doing anything.
   */
  has(phase: Phase): boolean;

  /** Starts a run. Call `holdLease` before a takeover, so that it is never without a guardian. */
  run(context: HookContext): HookRun;

  /**
   * Sets the lease in force. Called at every renewal while a leadership lasts. `release` runs if the lease
   * passes without a renewal. This works even if this process is frozen or dead, as far as the implementation
   * says so. A lease that has passed is not revived: after `lease-ended`, the next call begins a new
   * leadership.
   */
  holdLease(lease: WorkloadLease, release: HookContext): void;

  /** Ends the protection of the leadership, which is over and released. */
  endLeadership(): void;

  /**
   * Subscribes to unrequested ends. The returned function unsubscribes. A lease that ends by itself is
   * reported before the outcomes of the runs that it aborted.
   */
  onEnd(listener: (end: WorkloadEnd) => void): () => void;

  /**
   * Aborts whatever is running, kills whatever is left, and frees every resource. Returns false if something
   * may still be running. Never rejects.
   */
  close(): Promise<boolean>;
}
