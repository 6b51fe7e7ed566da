/**
 * Runs Petrel's commands, as they are built and shipped, inside the test's process, because a separate
 * process costs ten times as much. Tests of a command's log, exit, signals, pipes or terminals use
 * `runProcess` instead.
 */
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { environmentOf } from './agents.js';
import { keepLog } from './kept-logs.js';
import { oncePerRun } from './once-per-run.js';

export interface CommandEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Commands share the state of the process, so each one ends before the next begins. */
let last: Promise<unknown> = Promise.resolve();

/** Runs `petrel ARGS` and waits until it ends. `env` has the same meaning as for `runProcess`. */
export function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  const end = last.then(() => runAlone(args, env));
  last = end.catch(() => undefined);
  return end;
}

async function runAlone(args: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandEnd> {
  const { runCommandLine } = await program();
  const [stdout, stderr] = [new Output(), new Output()];
  const own = Object.entries(process.env).filter(([name]) => !isOfCommands(name));
  using _stdout = replaced('stdout', stdout);
  using _stderr = replaced('stderr', stderr);
  using _env = replaced('env', { ...Object.fromEntries(own), ...environmentOf(args, env) });
  const before = process.exitCode;
  process.exitCode = undefined;
  try {
    const { code } = await runCommandLine(args);
    return { code, stdout: stdout.text, stderr: stderr.text };
  } finally {
    process.exitCode = before;
  }
}

async function program(): Promise<typeof import('../../src/cli/run.js')> {
  const main = await oncePerRun('build');
  return import(join(dirname(main), 'run.js'));
}

/** Whether commands read this variable. Such variables of the test process must not leak into a command. */
function isOfCommands(name: string): boolean {
  return /^(PETREL_|OTEL_)/.test(name) || ['EDITOR', 'VISUAL', 'SUDO_USER'].includes(name);
}

/** Replaces a property of `process` until the returned object is disposed of. */
function replaced(name: 'stdout' | 'stderr' | 'env', value: unknown): Disposable {
  const before = Object.getOwnPropertyDescriptor(process, name);
  Object.defineProperty(process, name, { value, configurable: true, enumerable: true, writable: true });
  return {
    [Symbol.dispose]: () => {
      if (before !== undefined) Object.defineProperty(process, name, before);
    },
  };
}

class Output extends Writable {
  text = '';
  readonly #keep = keepLog(`commands-${process.pid}`);

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString('utf8');
    this.#keep(chunk.toString('utf8').trimEnd());
    done();
  }
}
