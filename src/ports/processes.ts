/**
 * Processes, as far as Petrel runs commands. Each command starts as the leader of its own process group. From
 * then on, signals and checks apply to the group. Implemented by `src/hooks/system-processes.ts`. The code
 * built on these steps (`src/hooks`) is the same for every implementation.
 *
 * A group outlives the process that started it. Its id belongs to it until its last process is gone. Then the
 * system may reuse the id for unrelated processes. Not seen and not signalled: a process that moved itself to
 * another group (setsid, a service manager).
 */
import type { Readable } from 'node:stream';
import type { Clock } from './clock.js';

export interface CommandLine {
  readonly program: string;
  readonly args: readonly string[];
  /** Added to the environment of the process that starts it. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether its output goes to the output of the process that starts it and cannot be read. */
  readonly passesOutput: boolean;
}

/** How the leader of a group ended. */
export interface Exit {
  readonly code: number | null;
  /** Name of the signal that ended it, e.g. SIGKILL. */
  readonly signal: string | null;
  /** The system's code for why it could not be started, e.g. ENOENT. Null if it was started. */
  readonly startError: string | null;
}

export interface StartedCommand {
  /** Null if it could not be started. */
  readonly pgid: number | null;
  /** Null if there is nothing to read. */
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /** Resolves when the leader has ended or could not be started. Never rejects. */
  readonly exit: Promise<Exit>;
  /**
   * Resolves when it has ended and all its output has been read: no process has its output open any more.
   * Never rejects.
   */
  readonly closed: Promise<void>;
}

export type GroupSignal = 'SIGTERM' | 'SIGCONT' | 'SIGKILL';

export interface Processes {
  /** Starts a command. Never throws: `exit` reports a command that cannot be started. */
  start(command: CommandLine): StartedCommand;
  /**
   * Signals every process of the group. A process that is gone, or that we have no permission to signal, is
   * not an error.
   */
  signalGroup(pgid: number, signal: GroupSignal): void;
  /** Whether any process of the group exists, including zombies. Cheap. */
  groupExists(pgid: number): boolean;
  /**
   * Whether a process of the group runs. Zombies do not run: if no process reaps orphans, they remain
   * forever. True if this cannot be determined. May need to look at every process of the machine.
   */
  groupLives(pgid: number): boolean;
  /**
   * Returns the groups in which a process has this variable with this value in its environment. Null if the
   * system does not provide this. Looks at every process of the machine. Misses a process that has just been
   * started and has not yet executed its own program.
   */
  groupsWith(variable: string, value: string): readonly number[] | null;
}

/** A process's view of its machine: the clock, and the other processes. */
export interface Machine {
  readonly clock: Clock;
  readonly processes: Processes;
}
