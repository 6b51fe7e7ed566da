/**
 * The interface between an agent and its supervisor. Implemented by `supervisor-process.ts`, and by
 * `src/guardian/channel.ts`.
 */
import type { FromSupervisor, ToSupervisor } from './messages.js';

export interface SupervisorOptions {
  /** Id of the node. It appears in the supervisor's log, and in the list of processes that operators see. */
  readonly node: string;
  readonly root: string;
  /** Whether foreground commands write to this process's stdout. */
  readonly passesOutput: boolean;
}

/**
 * Describes the end of a supervisor that was killed by its agent. `sign` is the symptom that the agent saw.
 */
export function killedText(sign: string): string {
  return `was killed by its agent, because it ${sign}`;
}

export interface SupervisorListener {
  message(message: FromSupervisor): void;
  /** Called when the supervisor is gone and no more messages will come. `how` describes its end in words. */
  gone(how: string): void;
}

export interface Supervisor {
  /** Name for messages: "the guardian" or "the supervisor". */
  readonly name: string;
  /**
   * Sends messages in order. A message to a supervisor that has just died is lost. In that case, `gone` is
   * called afterwards.
   */
  send(message: ToSupervisor): void;
  /**
   * Kills a hung supervisor immediately, with SIGKILL. `sign` describes the symptom. The processes that the
   * supervisor started continue to run.
   */
  kill(sign: string): void;
  /**
   * Asks the supervisor to end everything that it guards. Resolves when this is done, or when the supervisor
   * is gone.
   */
  leave(): Promise<void>;
}

export interface Supervisors {
  /** Starts a supervisor. Never throws. If it cannot be started, `gone` is called soon afterwards. */
  start(options: SupervisorOptions, listener: SupervisorListener): Supervisor;
}
