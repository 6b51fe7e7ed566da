/** The agent's end of its keeper: starts the process, speaks with it, hears of its end. */
import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Keeper, KeeperListener, KeeperOptions, Keepers } from './keepers.js';
import { isFromKeeper, type ToKeeper } from './messages.js';
import { withoutSecrets } from './secret-variables.js';

export const systemKeepers: Keepers = {
  start(options, listener) {
    try {
      return new KeeperProcess(forked(options), listener);
    } catch (error) {
      return notStarted(error instanceof Error ? error : new Error(String(error)), listener);
    }
  },
};

const keeperName = 'the keeper';

class KeeperProcess implements Keeper {
  readonly name = keeperName;
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;

  constructor(child: ChildProcess, listener: KeeperListener) {
    this.#child = child;
    this.#child.on('message', (message: unknown) => {
      if (isFromKeeper(message)) listener.message(message);
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(startFailure(error)));
      this.#child.once('exit', (code, signal) => resolve(`ended with ${signal ?? `exit code ${code}`}`));
    });
    void this.#ended.then((how) => listener.gone(how));
  }

  send(message: ToKeeper): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async leave(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#ended;
  }
}

/** One that never was. */
function notStarted(error: Error, listener: KeeperListener): Keeper {
  const gone = Promise.resolve().then(() => listener.gone(startFailure(error)));
  return { name: keeperName, send: () => {}, kill: () => {}, leave: () => gone };
}

function startFailure(error: Error): string {
  return `could not be started: ${error.message}`;
}

function forked({ node, root, passesOutput }: KeeperOptions): ChildProcess {
  const { path, execArgv } = keeperProgram();
  return fork(path, [node, root], {
    execArgv,
    env: withoutSecrets(process.env),
    detached: true,
    stdio: ['ignore', passesOutput ? 'inherit' : 'ignore', 'inherit', 'ipc'],
  });
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
