/**
 * Runs Petrel's command line in separate processes, as it is built and shipped, so that tests can kill,
 * freeze and stop agents. All processes end with the test process, and at the end of the test file.
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

/** `setup.ts` calls this at the end of each test file. */
export async function stopEveryProcess(): Promise<void> {
  await Promise.all([...everyProcess].map((process) => process.stop()));
  everyProcess.clear();
}

/**
 * Starts `petrel ARGS`. The process gets `env` and PATH, but no PETREL_ variable of the test process. It also
 * gets unused secrets, so that the tests notice if it reveals one. It has its own state directory unless
 * `env` names one. To restart a node, pass the `stateDir` of its earlier incarnation. The process serves no
 * HTTP unless `env` sets an address. `program` replaces the built main program.
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

/** Returns the environment variables that `petrel ARGS` gets in addition to those of every process. */
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
  // A token comes from a file or from the environment, never from both.
  const hasToken = args.includes('--http-token-file') || env.PETREL_HTTP_TOKEN_FILE !== undefined;
  return {
    PETREL_PROBE_SECRET: secrets.probe,
    ...(hasToken ? {} : { PETREL_HTTP_TOKEN: secrets.httpToken }),
  };
}

/** Runs `petrel ARGS` and waits until it ends. */
export async function runProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Exit & { readonly stdout: string; readonly stderr: string }> {
  await using started = await startProcess(args, env);
  const exit = await started.exited;
  return { ...exit, stdout: started.stdout, stderr: started.stderr };
}
