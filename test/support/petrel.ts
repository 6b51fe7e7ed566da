/** Runs the command line as users do: as a process of its own. */
import type { ChildProcess } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { exitOf, spawnBound } from './bound-process.js';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** Added to the environment, from which all PETREL_… variables were taken. */
  readonly env?: Readonly<Record<string, string>>;
  /** For stdin; default nothing. */
  readonly input?: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly stdout: NodeJS.ReadableStream;
  readonly result: Promise<Ran>;
}

/** Runs `petrel ARGS` to its end. */
export function petrel(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return startPetrel(args, options).result;
}

export function startPetrel(args: readonly string[], { env = {}, input = '' }: RunOptions = {}): Running {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PETREL_'));
  const child = spawnBound(process.execPath, ['--import', 'tsx', main, ...args], {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error('the child has no pipes');
  stdin.on('error', () => {}).end(input);
  const result = Promise.all([text(stdout), text(stderr), exitOf(child)]).then(([out, error, { code }]) => {
    return { code, stdout: out, stderr: error };
  });
  return { child, stdout, result };
}
