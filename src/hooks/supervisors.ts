/** The supervisor as its agent sees it. Implemented by `supervisor-process.ts`. */
import type { FromSupervisor, ToSupervisor } from './messages.js';

export interface SupervisorOptions {
  /** For its log, and for operators who look at the list of processes. */
  readonly node: string;
  readonly root: string;
  /** Whether foreground commands write to this process's stdout. */
  readonly passesOutput: boolean;
}

/** Describes the end of a supervisor that its agent has killed. */
export function killedText(sign: string): string {
  return `was killed by its agent, because it ${sign}`;
}

export interface SupervisorListener {
  message(message: FromSupervisor): void;
  /** Called when it is gone and no more messages will come. `how` describes the end in words. */
  gone(how: string): void;
}

export interface Supervisor {
  /** For messages: the guardian, or a supervisor that is only that. */
  readonly name: string;
  /** Keeps the order. A message to a supervisor that has just died is lost; `gone` follows. */
  send(message: ToSupervisor): void;
  /**
   * Kills it immediately, with SIGKILL, because it hangs. `sign` describes the symptom. What it ran keeps
   * running.
   */
  kill(sign: string): void;
  /** Lets it end what it guards. Resolves when it is gone. */
  leave(): Promise<void>;
}

export interface Supervisors {
  /** Never throws. A supervisor that cannot be started is soon reported `gone`. */
  start(options: SupervisorOptions, listener: SupervisorListener): Supervisor;
}
