/**
 * Processes, as far as Petrel runs commands: each is started as the leader of a process group of its own, and
 * from then on it is the group that is signalled and looked at. Implemented by
 * `src/hooks/system-processes.ts`; what is made of these steps (`src/hooks`) is the same on every
 * implementation.
 *
 * A group goes on without the process that started it. Its id is its own until nothing of it is left; then
 * the system may give it to somebody else's processes. Not seen and not signalled: a process that moved
 * itself to a group of its own (setsid, a service manager).
 */
import type { Readable } from 'node:stream';
import type { Clock } from './clock.js';

export interface CommandLine {
  readonly program: string;
  readonly args: readonly string[];
  /** Beside the environment of the process that starts it. */
  readonly env: Readonly<Record<string, string>>;
  /** Its output goes where the output of the process that starts it goes, instead of to be read. */
  readonly passesOutput: boolean;
}

/** How the leader of a group ended. */
export interface Exit {
  readonly code: number | null;
  /** Name of the signal that ended it, e.g. SIGKILL. */
  readonly signal: string | null;
  /** The system's code for why it could not be started, e.g. ENOENT; null when it could. */
  readonly startError: string | null;
}

export interface StartedCommand {
  /** Null when it could not be started. */
  readonly pgid: number | null;
  /** Null when there is nothing to read. */
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /** The leader has ended, or could not be started. Never rejects. */
  readonly exit: Promise<Exit>;
  /**
   * It has ended, and all that it wrote has been read: nothing holds its output open any more. Never rejects.
   */
  readonly closed: Promise<void>;
}

export type GroupSignal = 'SIGTERM' | 'SIGCONT' | 'SIGKILL';

export interface Processes {
  /** Never throws: what cannot be started has that for its exit. */
  start(command: CommandLine): StartedCommand;
  /** Reaches every process of the group; one that is not there, or not ours to signal, is no error. */
  signalGroup(pgid: number, signal: GroupSignal): void;
  /** Whether anything of the group is there, zombies included. Costs nothing. */
  groupExists(pgid: number): boolean;
  /** Whether a process of the group runs. Zombies do not: where nobody reaps orphans they stay for ever.
   * True when that cannot be told. May cost a look at every process of the machine. */
  groupLives(pgid: number): boolean;
  /**
   * Groups in which a process has this variable, with this value, in its environment; null when the system
   * does not tell. Costs a look at every process of the machine, and does not see one that has just been
   * started and is not yet its own program.
   */
  groupsWith(variable: string, value: string): readonly number[] | null;
}

/** What a process finds on the machine it runs on: its time, and its fellows. */
export interface Machine {
  readonly clock: Clock;
  readonly processes: Processes;
}
