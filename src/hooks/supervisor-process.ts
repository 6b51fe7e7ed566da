/**
 * The supervisor process as seen by its agent. Starts the process, exchanges messages with it, and detects
 * its end.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type FromGuards, isFromGuards, type ToGuards } from './messages.js';
import { withoutSecrets } from './secret-variables.js';
import {
  killedText,
  type Supervisor,
  type SupervisorListener,
  type SupervisorOptions,
  type Supervisors,
} from './supervisors.js';

/** Starts a separate process for each agent. */
export const systemSupervisors: Supervisors = {
  start: (options, listener) => sharedSupervisors().start(options, listener),
};

/**
 * Returns supervisors that share one process for all groups of an agent. If this process has died, the next
 * `start` creates a new one.
 */
export function sharedSupervisors(): Supervisors {
  let shared: SupervisorProcess | null = null;
  return {
    start(options, listener) {
      try {
        if (shared === null || shared.isGone) shared = new SupervisorProcess(forked(options));
        return shared.keep(options.root, listener);
      } catch (error) {
        return notStarted(error instanceof Error ? error : new Error(String(error)), listener);
      }
    },
  };
}

const supervisorName = 'the supervisor';

interface Kept {
  readonly listener: SupervisorListener;
  cleared: (() => void) | null;
}

class SupervisorProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;
  readonly #kept = new Map<number, Kept>();
  #groups = 0;
  #isGone = false;
  #killedBecause: string | null = null;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#child.on('message', (message: unknown) => {
      if (isFromGuards(message)) this.#received(message);
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(startFailure(error)));
      this.#child.once('exit', (code, signal) =>
        resolve(signal === null ? `exited with code ${code}` : `was killed by ${signal}`),
      );
    });
    void this.#ended.then((how) =>
      this.#gone(this.#killedBecause === null ? how : killedText(this.#killedBecause)),
    );
  }

  /** Whether the process is gone or is about to exit. */
  get isGone(): boolean {
    return this.#isGone;
  }

  keep(root: string, listener: SupervisorListener): Supervisor {
    const group = this.#groups++;
    const kept: Kept = { listener, cleared: null };
    this.#kept.set(group, kept);
    const send = (message: ToGuards) => {
      if (this.#child.connected) this.#child.send(message, () => {});
    };
    send({ type: 'begin', group, root });
    return {
      name: supervisorName,
      send: (message) => send({ ...message, group }),
      kill: (sign) => {
        this.#isGone = true;
        this.#killedBecause = sign;
        this.#child.kill('SIGKILL');
      },
      leave: async () => {
        if (this.#kept.size > 1 && this.#kept.has(group)) {
          const cleared = new Promise<void>((resolve) => {
            kept.cleared = resolve;
          });
          send({ type: 'clear', group });
          return await cleared;
        }
        this.#isGone = true;
        if (this.#child.connected) this.#child.disconnect();
        await this.#ended;
      },
    };
  }

  #received(message: FromGuards): void {
    const kept = this.#kept.get(message.group);
    if (message.type !== 'cleared') kept?.listener.message(message);
    else {
      this.#kept.delete(message.group);
      kept?.cleared?.();
    }
  }

  #gone(how: string): void {
    this.#isGone = true;
    for (const { listener, cleared } of this.#kept.values()) {
      listener.gone(how);
      cleared?.();
    }
    this.#kept.clear();
  }
}

/** Returns a placeholder for a supervisor that could not be started. */
function notStarted(error: Error, listener: SupervisorListener): Supervisor {
  const gone = Promise.resolve().then(() => listener.gone(startFailure(error)));
  return { name: supervisorName, send: () => {}, kill: () => {}, leave: () => gone };
}

function startFailure(error: Error): string {
  return `could not be started: ${error.message}`;
}

function forked({ node, root, passesOutput }: SupervisorOptions): ChildProcess {
  const { path, execArgv } = supervisorProgram();
  return fork(path, [node, root], {
    execArgv,
    env: withoutSecrets(process.env),
    detached: true,
    stdio: ['ignore', passesOutput ? 'inherit' : 'ignore', 'inherit', 'ipc'],
  });
}

/**
 * Returns the supervisor's program, which is in the same directory as this module. If Petrel runs from
 * source, the program is a TypeScript file that needs a loader. Otherwise, it is the compiled file.
 */
function supervisorProgram(): { path: string; execArgv: string[] } {
  if (import.meta.url.endsWith('.js')) return { path: nextToThisModule('./supervisor.js'), execArgv: [] };
  const loader = createRequire(import.meta.url).resolve('tsx');
  return { path: nextToThisModule('./supervisor.ts'), execArgv: ['--import', pathToFileURL(loader).href] };
}

function nextToThisModule(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
