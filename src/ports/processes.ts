/**
 * The operations on processes that Petrel needs to run commands. Each command starts as the leader of its own
 * process group. From then on, signals and checks apply to the whole group. `src/hooks/system-processes.ts`
 * implements these operations. The code that uses them (`src/hooks`) is the same for every implementation.
 *
 * A process group can outlive the process that started it. The id belongs to the group until the group's last
 * process is gone. After that, the system may reuse the id for unrelated processes. A process that has moved
 * to another group (for example through setsid or a service manager) is neither seen nor signalled.
 */
import type { Readable } from 'node:stream';
import type { Clock } from './clock.js';

export interface CommandLine {
  readonly program: string;
  readonly args: readonly string[];
  /**
   * Variables for the environment of the command. They are added to the environment of the starting process,
   * from which secrets are removed.
   */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Whether the command writes directly to the output of the process that starts it. If so, the command's
   * output cannot be read.
   */
  readonly passesOutput: boolean;
}

/** How the leader of a process group ended. */
export interface Exit {
  readonly code: number | null;
  /** Name of the signal that ended the process, such as SIGKILL. Null if no signal did. */
  readonly signal: string | null;
  /** The system's error code if the process could not be started, such as ENOENT. Null if it was started. */
  readonly startError: string | null;
}

export interface StartedCommand {
  /** Id of the process group. Null if the command could not be started. */
  readonly pgid: number | null;
  /** Output of the command. Null if there is nothing to read. */
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /** Resolves when the leader has ended or could not be started. Never rejects. */
  readonly exit: Promise<Exit>;
  /**
   * Resolves when the leader has ended and all its output has been read. By then, no process has the output
   * open any more. Never rejects.
   */
  readonly closed: Promise<void>;
}

export type GroupSignal = 'SIGTERM' | 'SIGCONT' | 'SIGKILL';

export interface Processes {
  /** Starts a command. Never throws. If the command cannot be started, `exit` reports this. */
  start(command: CommandLine): StartedCommand;
  /**
   * Sends a signal to every process of the group. It is not an error if a process is gone, or if the caller
   * has no permission to signal it.
   */
  signalGroup(pgid: number, signal: GroupSignal): void;
  /** Whether any process of the group exists, including zombies. This check is cheap. */
  groupExists(pgid: number): boolean;
  /**
   * Whether a process of the group is running. Zombies do not count as running, because they remain forever
   * if no process reaps orphans. True if the answer cannot be determined. The check may need to scan every
   * process on the machine.
   */
  groupIsAlive(pgid: number): boolean;
  /**
   * Returns the groups in which a process has this variable with this value in its environment. Returns null
   * if the system does not provide this information. Scans every process on the machine. Misses a process
   * that has just been started and has not executed its own program yet.
   */
  groupsWith(variable: string, value: string): readonly number[] | null;
}

/** A process's view of its machine, which consists of the clock and the other processes. */
export interface Machine {
  readonly clock: Clock;
  readonly processes: Processes;
}
