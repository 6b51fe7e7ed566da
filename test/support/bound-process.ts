/**
 * Starts child processes that end with the test process, even if the test process is killed. This needs
 * setpriv (Linux). The kernel ties a child to the thread that started it, so use this from processes, not
 * from workers.
 */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

const bound = ['--pdeathsig', 'KILL', '--'];
let setprivWorks: boolean | undefined;

export function spawnBound(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  setprivWorks ??= spawnSync('setpriv', [...bound, 'true']).status === 0;
  return setprivWorks
    ? spawn('setpriv', [...bound, command, ...args], options)
    : spawn(command, [...args], options);
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Resolves when the process has ended. Rejects if the process could not be started. */
export async function exitOf(child: ChildProcess): Promise<Exit> {
  if (!hasExited(child)) await once(child, 'exit');
  return { code: child.exitCode, signal: child.signalCode };
}

/** Sends SIGKILL and waits until the process is gone. */
export async function killAndWait(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await exitOf(child);
}
