/** The supervisor as its agent sees it. Implemented by `supervisor-process.ts`. */
import type { FromSupervisor, ToSupervisor } from './messages.js';

export interface SupervisorOptions {
  /** For its log, and for who looks at the list of processes. */
  readonly node: string;
  readonly root: string;
  /** What runs in the foreground writes to this process's stdout. */
  readonly passesOutput: boolean;
}

/** How one has gone that its agent has killed. */
export function killedText(sign: string): string {
  return `was killed by its agent, because it ${sign}`;
}

export interface SupervisorListener {
  message(message: FromSupervisor): void;
  /** It is gone, and nothing more is heard of it; `how` in words. */
  gone(how: string): void;
}

export interface Supervisor {
  /** For messages: the guardian, or a supervisor that is nothing else. */
  readonly name: string;
  /** In order. A message to a supervisor that has just died is lost; `gone` follows. */
  send(message: ToSupervisor): void;
  /** At once, by SIGKILL, because it hangs: `sign` is how that shows. What it ran lives on. */
  kill(sign: string): void;
  /** Lets it end what it guards. Resolves when it has gone. */
  leave(): Promise<void>;
}

export interface Supervisors {
  /** Never throws: one that cannot be started is `gone`, soon. */
  start(options: SupervisorOptions, listener: SupervisorListener): Supervisor;
}
