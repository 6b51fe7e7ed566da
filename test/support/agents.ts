/**
 * Petrel's command line in processes of its own, as it is built and shipped, so that tests can kill, freeze
 * and stop agents as the world does. All of them die with the test process, and at the end of the test file.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Exit, spawnBound } from './bound-process.js';
import { oncePerRun } from './once-per-run.js';
import { PetrelProcess } from './petrel-process.js';
import { secrets } from './secrets.js';

export type { LogLine, PetrelProcess } from './petrel-process.js';

const everyProcess = new Set<PetrelProcess>();

/** For the end of each test file (`setup.ts`). */
export async function stopEveryProcess(): Promise<void> {
  await Promise.all([...everyProcess].map((process) => process.stop()));
  everyProcess.clear();
}

/**
 * Starts `petrel ARGS`. Its environment is `env` and nothing of this process's but PATH: no PETREL_ variable
 * leaks into it; and secrets that it has no use for, so that one that tells them is found out. Its state
 * directory is its own, unless `env` names one: give a node that starts again the `stateDir` of its earlier
 * life. It answers no HTTP unless `env` says where. `program` is another main program than the one that was
 * built.
 */
export async function startProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  program?: string,
): Promise<PetrelProcess> {
  const main = program ?? (await oncePerRun('build'));
  const ownDir = env.PETREL_STATE_DIR === undefined ? await mkdtemp(join(tmpdir(), 'petrel-state-')) : null;
  const stateDir = env.PETREL_STATE_DIR ?? ownDir ?? '';
  const child = spawnBound(process.execPath, [main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { HOME: stateDir, ...environmentOf(args, { PETREL_STATE_DIR: stateDir, ...env }) },
  });
  const started = new PetrelProcess(child, stateDir, ownDir);
  everyProcess.add(started);
  return started;
}

/** What `petrel ARGS` finds in its environment, beside what a process has anyway. */
export function environmentOf(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  return {
    PATH: process.env.PATH,
    PETREL_LISTEN: 'off',
    ...secretVariablesNextTo(args, env),
    ...env,
  };
}

function secretVariablesNextTo(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  // A token comes by a file or by the environment, not by both.
  const hasToken = args.includes('--http-token-file') || env.PETREL_HTTP_TOKEN_FILE !== undefined;
  return {
    PETREL_PROBE_SECRET: secrets.probe,
    ...(hasToken ? {} : { PETREL_HTTP_TOKEN: secrets.httpToken }),
  };
}

/** Runs `petrel ARGS` to its end. */
export async function runProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Exit & { readonly stdout: string; readonly stderr: string }> {
  await using started = await startProcess(args, env);
  const exit = await started.exited;
  return { ...exit, stdout: started.stdout, stderr: started.stderr };
}
