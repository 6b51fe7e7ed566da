/** The agent's end of its keeper: starts the process, speaks with it, hears of its end. */
import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type FromKeeper, isFromKeeper, type ToKeeper } from './messages.js';

export interface KeeperListener {
  message(message: FromKeeper): void;
  /** It is gone; `how` in words. */
  gone(how: string): void;
}

export interface KeeperOptions {
  /** For its log, and for who looks at the list of processes. */
  readonly node: string;
  readonly root: string;
  /** What runs in the foreground writes to this process's stdout. */
  readonly passesOutput: boolean;
}

export class KeeperProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;

  constructor({ node, root, passesOutput }: KeeperOptions, listener: KeeperListener) {
    const { path, execArgv } = keeperProgram();
    this.#child = fork(path, [node, root], {
      execArgv,
      detached: true,
      stdio: ['ignore', passesOutput ? 'inherit' : 'ignore', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message: unknown) => {
      if (isFromKeeper(message)) listener.message(message);
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(`could not be started: ${error.message}`));
      this.#child.once('exit', (code, signal) => resolve(`ended with ${signal ?? `exit code ${code}`}`));
    });
    void this.#ended.then((how) => listener.gone(how));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** A message to a keeper that has just died is lost; `gone` follows. */
  send(message: ToKeeper): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Lets it end what it guards. Resolves when it has gone. */
  async leave(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#ended;
  }
}

/** Beside this module: compiled, or, when Petrel runs from its sources, the source and what can load it. */
function keeperProgram(): { path: string; execArgv: string[] } {
  if (import.meta.url.endsWith('.js')) return { path: beside('./keeper.js'), execArgv: [] };
  const loader = createRequire(import.meta.url).resolve('tsx');
  return { path: beside('./keeper.ts'), execArgv: ['--import', pathToFileURL(loader).href] };
}

function beside(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
