/** The supervisor as its agent uses it. `supervisor-process.ts` implements it. */
import type { FromSupervisor, ToSupervisor } from './messages.js';

export interface SupervisorOptions {
  /** Id of the node. It appears in the supervisor's log, and for operators in the list of processes. */
  readonly node: string;
  readonly root: string;
  /** Whether foreground commands write to this process's stdout. */
  readonly passesOutput: boolean;
}

/** Returns a description of the end of a supervisor that its agent has killed. */
export function killedText(sign: string): string {
  return `was killed by its agent, because it ${sign}`;
}

export interface SupervisorListener {
  message(message: FromSupervisor): void;
  /** Called when the supervisor is gone and no more messages will come. `how` describes its end in words. */
  gone(how: string): void;
}

export interface Supervisor {
  /** Name for messages: the guardian, or a supervisor without other tasks. */
  readonly name: string;
  /**
   * Sends messages in order. A message to a supervisor that has just died is lost. `gone` is called
   * afterwards.
   */
  send(message: ToSupervisor): void;
  /**
   * Kills a hanging supervisor immediately with SIGKILL. `sign` describes the symptom. The processes that the
   * supervisor started continue to run.
   */
  kill(sign: string): void;
  /** Lets the supervisor end what it guards. Resolves when the supervisor is gone. */
  leave(): Promise<void>;
}

export interface Supervisors {
  /** Starts a supervisor. Never throws. If it cannot be started, `gone` is called soon. */
  start(options: SupervisorOptions, listener: SupervisorListener): Supervisor;
}
