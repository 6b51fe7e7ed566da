/** The keeper as its agent sees it. Implemented by `keeper-process.ts`. */
import type { FromKeeper, ToKeeper } from './messages.js';

export interface KeeperOptions {
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

export interface KeeperListener {
  message(message: FromKeeper): void;
  /** It is gone, and nothing more is heard of it; `how` in words. */
  gone(how: string): void;
}

export interface Keeper {
  /** For messages: the guardian, or a keeper that is nothing else. */
  readonly name: string;
  /** In order. A message to a keeper that has just died is lost; `gone` follows. */
  send(message: ToKeeper): void;
  /** At once, by SIGKILL, because it hangs: `sign` is how that shows. What it ran lives on. */
  kill(sign: string): void;
  /** Lets it end what it guards. Resolves when it has gone. */
  leave(): Promise<void>;
}

export interface Keepers {
  /** Never throws: one that cannot be started is `gone`, soon. */
  start(options: KeeperOptions, listener: KeeperListener): Keeper;
}
